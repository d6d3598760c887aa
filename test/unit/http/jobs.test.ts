// One job over HTTP: by its id or as a job of Slurm, its report, and the line that an epilog prints.
import { describe, expect, test } from 'vitest'
import { INCIDENT } from './incident-fixture.ts'
import { RUN } from './job-fixture.ts'
import { get, runServer } from './running.ts'

const LINE = 'used 2 GPUs; peak 16 GiB; 33 % busy; 0.14 kWh; 5 GPU minutes lost; out of memory after 1 h\n'

describe('/api/v1/jobs/ID', () => {
  test.each([INCIDENT.id, 'slurm:4711'])('%s: its runs, its report, and what it used in one line', async (id) => {
    await using running = await runServer()
    const url = `${running.url}/api/v1/jobs/${id}`
    expect(JSON.parse((await get(url)).text)).toEqual([RUN])
    const line = await get(`${url}/line`)
    expect(line.headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
    expect(line.text).toBe(LINE)
    expect((await get(`${url}/report`)).text).toMatch(/^# train: /)
  })

  test.each(['ffffffffffffffff/line', 'slurm:4712/line', 'slurm:/line', 'slurm:4711x/line', 'train/line', `${INCIDENT.id}/lines`])(
    'knows no job %s',
    async (path) => {
      await using running = await runServer()
      const answer = await get(`${running.url}/api/v1/jobs/${path}`)
      expect(answer.status).toBe(404)
    },
  )
})
