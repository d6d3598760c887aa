// Live: an OOM that its program catches is a warning; one that ends it is critical.
import { describe, expect, test } from 'vitest'
import { box, createScene, happened, line, oomText, only, T } from './scene.ts'

const started = () => {
  const scene = createScene()
  const trainer = box('trainer', [0])
  return { scene, trainer, t: scene.pass(T, 3, [trainer]) }
}
const warned = `2031-02-03 04:05:06 | WARNING | trainer | OOM: ran out of memory with exception: ${oomText()}`

describe('an OOM that its program', () => {
  test('logs as a warning is a warning, and critical once the container dies of it', () => {
    const { scene, trainer, t } = started()
    scene.feed(line(t, trainer, warned))
    expect(only(scene)).toMatchObject({ kind: 'cuda_oom', severity: 'warning' })
    scene.feed(happened(t + 2_000, 'die', trainer, 1))
    expect(only(scene)).toMatchObject({ kind: 'cuda_oom', severity: 'critical' })
  })
  test('logs as a warning, and then raises, is critical', () => {
    const { scene, trainer, t } = started()
    scene.feed(line(t, trainer, warned), line(t + 100, trainer, oomText()))
    expect(only(scene)).toMatchObject({ kind: 'cuda_oom', severity: 'critical' })
  })
  test('prints and goes on from is critical until its steps go on, and so is not the next one', () => {
    const { scene, trainer, t } = started()
    scene.feed(line(t, trainer, 'step 7 of 90'), line(t + 500, trainer, oomText()))
    expect(only(scene).severity).toBe('critical')
    const steps = [1, 2, 3].map((n) => line(t + n * 1_500, trainer, `step ${7 + n} of 90`))
    scene.feed(...steps)
    scene.pass(t + 5_000, 2, [trainer])
    expect(only(scene)).toMatchObject({ kind: 'cuda_oom', severity: 'warning' })
    scene.feed(line(t + 8_000, trainer, oomText()))
    scene.pass(t + 9_000, 2, [trainer])
    expect(only(scene).severity).toBe('warning')
  })
  test('prints stays critical beside what other ranks still print', () => {
    const { scene, trainer, t } = started()
    scene.feed(line(t, trainer, 'step 7 of 90'), line(t + 100, trainer, oomText()), line(t + 200, trainer, 'step 8 of 90'), line(t + 4_000, trainer, 'waiting'))
    scene.pass(t + 5_000, 2, [trainer])
    expect(only(scene).severity).toBe('critical')
  })
})
