// A page in the Prometheus text format from a stranger: labels, odd values, limits.
import { expect, test } from 'vitest'
import { readExposition } from '../../../agent/servers/exposition.ts'
import { histogramOf, shareOf, sumOf } from '../../../agent/servers/pick.ts'
import { quantileOf, since } from '../../../agent/servers/quantiles.ts'

const all = (name: string): string => name

test('labels with escapes, braces and commas in them; timestamps and exemplars behind the value', () => {
  const page = readExposition('a{m="x\\"y\\\\z\\n",n="{1,2}"} 3 1700000000000\nb_total 4 # {trace_id="f"} 1.0 1.6\n c 1\nd{ e="f" , } 5e2\n', all)
  expect(Object.fromEntries(page)).toEqual({
    a: [{ labels: { m: 'x"y\\z\n', n: '{1,2}' }, value: 3 }],
    b_total: [{ labels: {}, value: 4 }],
    d: [{ labels: { e: 'f' }, value: 500 }],
  })
})
test('values that are none, broken lines and lines cut in the middle are left out', () => {
  const page = readExposition('a NaN\nb +Inf\nc{x="1} 2\nd{x="1"\ne 3.5926048768e+010\nf\ng{="1"} 1\nh 1_0\n<html>', all)
  expect([...page.keys()]).toEqual(['e', 'g'])
  expect(page.get('e')).toEqual([{ labels: {}, value: 35_926_048_768 }])
})
test('a histogram whose buckets nobody reads is left out whole where it stands in one piece; a page that was shortened keeps its lines', () => {
  const wanted = (name: string): string | undefined => (name === 'big_bucket' ? undefined : name)
  const big = 'big_bucket{le="1"} 1\nbig_bucket{le="+Inf"} 2\nbig_sum 3\nbig_count 2\n'
  const names = (page: string): readonly string[] => [...readExposition(page, wanted).keys()]
  expect(names(`# TYPE big histogram\n${big}# TYPE a gauge\na 1\n`)).toEqual(['a'])
  expect(names(`${big}a 1\n# TYPE b gauge\nb 1\n`)).toEqual(['big_sum', 'big_count', 'a', 'b'])
  expect(names(`# TYPE a gauge\na 1\n${big}`)).toEqual(['a', 'big_sum', 'big_count'])
})
test('labels that are those of the line before but for the bound of a bucket, or only look so', () => {
  const page = readExposition(
    't_bucket{m="x",le="0.1"} 1\nt_bucket{m="x",le="0.2"} 2\nt_bucket{m="y",le="0.2"} 3\nt_bucket{le="7",title="5"} 4\nt_bucket{le="7",title="6"} 5\nt_bucket{m="x",le="0.3"} 6\nt_bucket{m="x",le="0.3"} 7\n',
    all,
  )
  expect(page.get('t_bucket')?.map(({ labels, value }) => [labels, value])).toEqual([
    [{ m: 'x', le: '0.1' }, 1],
    [{ m: 'x', le: '0.2' }, 2],
    [{ m: 'y', le: '0.2' }, 3],
    [{ le: '7', title: '5' }, 4],
    [{ le: '7', title: '6' }, 5],
    [{ m: 'x', le: '0.3' }, 6],
    [{ m: 'x', le: '0.3' }, 7],
  ])
})
test('a page of millions of series and one endless label are bounded', () => {
  const page = readExposition(`${'a{x="1"} 1\n'.repeat(50_000)}b{y="${'z'.repeat(100_000)}"} 1\n`, all)
  expect(page.get('a')).toHaveLength(20_000)
  expect(readExposition(`b{y="${'z'.repeat(100_000)}"} 1`, all).get('b')?.[0]?.labels['y']).toHaveLength(300)
})
test('names in order, the newest first, with and without _total; a share that is none is none', () => {
  const page = readExposition('old 1\nnew_total 2\nnew_total{e="1"} 3\nrate -1\npercent 10.61\n', all)
  expect(sumOf(page, ['new', 'old'])).toBe(5)
  expect(sumOf(page, ['gone'])).toBeUndefined()
  expect([shareOf(page, ['rate']), shareOf(page, ['percent'])]).toEqual([undefined, undefined])
})

const buckets = (engine: string, counts: readonly number[]): string =>
  ['0.1', '0.5', '+Inf'].map((le, at) => `t_bucket{engine="${engine}",le="${le}"} ${counts[at] ?? 0}\n`).join('')
test('histograms of several engines are summed, and a quantile is of the time between two readings', () => {
  const before = histogramOf(readExposition(buckets('0', [5, 5, 5]), all), ['t'])
  const now = histogramOf(readExposition(buckets('0', [15, 25, 25]) + buckets('1', [0, 0, 0]), all), ['t'])
  expect(now).toEqual({ bounds: [0.1, 0.5, Infinity], counts: [15, 25, 25] })
  const between = before === undefined || now === undefined ? undefined : since(before, now)
  expect(between?.counts).toEqual([10, 20, 20])
  expect(between && [quantileOf(between, 0.25), quantileOf(between, 0.5), quantileOf(between, 0.75)]).toEqual([0.05, 0.1, expect.closeTo(0.3)])
})
test('a server that began anew, counted nothing, or counts beyond its last bound', () => {
  const histogram = (counts: readonly number[]) => ({ bounds: [1, 2, Infinity], counts })
  expect(since(histogram([3, 3, 3]), histogram([1, 1, 1]))).toBeUndefined()
  expect(since({ bounds: [1, Infinity], counts: [0, 0] }, histogram([1, 1, 1]))).toBeUndefined()
  expect(quantileOf(histogram([0, 0, 0]), 0.5)).toBeUndefined()
  expect(quantileOf(histogram([0, 0, 4]), 0.99)).toBe(2)
})
