// DCGM_EXP_XID_ERRORS_COUNT: the Xids of the last five minutes by code, a 0 without a code where there was none; and how many the GPU source counts.
import { expect, test } from 'vitest'
import { createExposition, type ExpositionOptions } from '../../../agent/http/exposition.ts'
import { XID_WINDOW_MS } from '../../../agent/model/xid-count.ts'
import { createXidCounts } from '../../../agent/sources/gpu/counts.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { GPU0, GPU1, gpuInfo, scrape, T } from './fixture.ts'
import { parseExposition } from './parse-exposition.ts'

function host(dcgm: ExpositionOptions['dcgm']) {
  const store = createLatestStore()
  const counts = createXidCounts()
  const exposition = createExposition({ latest: store, dcgm, hostnameLabel: 'Hostname', hostname: 'h' })
  const infos = [GPU0, GPU1].map((gpu) => ({ series: makeSeries(gpuInfo, gpu), value: 1 }))
  return {
    raise: (xid: number, t: number) => counts.add(GPU1, GPU1['uuid'] ?? '', xid, t),
    page: (t: number) => {
      store.apply(scrape('gpu', 'rare', t, infos))
      store.apply(scrape('gpu', 'xid', t, counts.readings(t)))
      exposition.invalidate()
      return parseExposition(exposition.page('text').body.toString(), 'text')
    },
  }
}
const said = (page: ReturnType<ReturnType<typeof host>['page']>, name: string): readonly string[] =>
  (page.get(name)?.samples ?? []).map(({ labels, value }) => `${labels['gpu']} xid=${labels['xid'] ?? ''} ${labels['window_size_in_ms'] ?? ''} ${value}`)

test('counts each code within the window, and forgets it after', () => {
  const { raise, page } = host('classic')
  expect(said(page(T), 'DCGM_EXP_XID_ERRORS_COUNT')).toEqual(['0 xid= 300000 0', '1 xid= 300000 0'])
  raise(79, T)
  raise(31, T + 1)
  raise(31, T + 60_000)
  expect(said(page(T + 60_000), 'DCGM_EXP_XID_ERRORS_COUNT').toSorted()).toEqual(['0 xid= 300000 0', '1 xid=31 300000 2', '1 xid=79 300000 1'])
  const later = page(T + XID_WINDOW_MS + 2)
  expect(said(later, 'DCGM_EXP_XID_ERRORS_COUNT')).toEqual(['1 xid=31 300000 1', '0 xid= 300000 0'])
  expect(said(page(T + XID_WINDOW_MS + 60_001), 'DCGM_EXP_XID_ERRORS_COUNT')).toEqual(['0 xid= 300000 0', '1 xid= 300000 0'])
  expect(said(later, 'DCGM_EXP_XID_ERRORS_TOTAL').toSorted()).toEqual(['1 xid=31  2', '1 xid=79  1'])
})

test('stands once where both sets of names are served: 4.9 kept it', () => {
  const { raise, page } = host('both')
  raise(48, T)
  expect(said(page(T), 'DCGM_EXP_XID_ERRORS_COUNT').toSorted()).toEqual(['0 xid= 300000 0', '1 xid=48 300000 1'])
  expect(said(page(T), 'DCGM_EXP_XID_ERRORS_TOTAL')).toEqual(['1 xid=48  1'])
})
