// The doctor of the API: what is wrong with driver, toolkit, engines and containers of this host, and how to fix it.
import type { Context, Hono } from 'hono'
import type { Reply } from '../compress.ts'
import type { DoctorReport } from '../../model/doctor.ts'

/** Bounds its own work: readers share a run. */
export type DoctorApi = () => Promise<DoctorReport>

export function addDoctor(app: Hono, doctor: DoctorApi, answer: (c: Context, value: unknown) => Reply): void {
  app.get('/api/v1/doctor', async (c) => answer(c, await doctor()))
}
