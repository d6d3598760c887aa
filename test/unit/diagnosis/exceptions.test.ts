// What Python's own exceptions mean, and what a message itself asks for.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const USER = '  File "/job/prepare.py", line 31, in <module>\n    run()\n'
const LIBRARY = '  File "/opt/venv/lib/python3.12/site-packages/trl/trainer/sft_trainer.py", line 210, in __init__\n    super().__init__(**kwargs)\n'
const answer = (error: string, frames = USER, before = '') => {
  const fault = explainText(logScanner(), `${before}Traceback (most recent call last):\n${frames}${error}\n`).at(-1)
  return { kind: fault?.kind, verdict: fault?.verdict, all: (fault?.remedies ?? []).map(({ text, command }) => `${text} ${command ?? ''}`) }
}

describe("Python's own exceptions", () => {
  test.each([
    ["TypeError: resample() got an unexpected keyword argument 'rate'", /Correct the call of resample/],
    ["AttributeError: 'NoneType' object has no attribute 'shape'", /it is None there/],
    ["KeyError: 'answers'", /'answers' is not among them/],
    ['IndexError: list index out of range', /the length and the index/],
    ['json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)', /git lfs pull/],
    ["json.decoder.JSONDecodeError: Expecting ',' delimiter: line 40 column 3 (char 911)", /json\.tool/],
    ["UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1: invalid start byte", /gzip\.open/],
    ["UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte", /opened as text/],
    ['ZeroDivisionError: division by zero', /empty data set/],
    ["NameError: name 'nn' is not defined", /Import or define nn/],
  ])('%s', (error, advice) => {
    const { kind, all } = answer(error)
    expect(kind).toBe('python_exception')
    expect(all.join('\n')).toMatch(advice)
    expect(all.at(-1)).toContain('Open prepare.py:31')
    expect(all.join('\n')).not.toMatch(/Reproduce|Resume/)
  })

  test('of a library: its package is named, with the command that shows its version', () => {
    const { all } = answer('ValueError: not enough values to unpack (expected 3, got 2)', `${USER}${LIBRARY}`)
    expect(all.join()).toContain("python -m pip list | grep -iE 'trl'")
    expect(answer("NameError: name 'flash_attn_func' is not defined", `${USER}${LIBRARY}`).all[0]).toContain('could not be imported')
  })

  test('a module of the message goes into the command only as letters, digits and points', () => {
    expect(answer("AttributeError: module 'x'; rm -rf ~; '' has no attribute 'y'").all.join('\n')).not.toContain('rm -rf')
  })
})

describe('what a message asks for', () => {
  test('is quoted; what holds for any error is not', () => {
    expect(answer('ValueError: The pad id is missing. Make sure to give the generation an id for padding.').all[0]).toBe(
      'The message itself says what to do: "Make sure to give the generation an id for padding." ',
    )
    expect(answer('ValueError: This is incompatible with that. Please choose one of the two.').all[0]).toContain('"Please choose one of the two."')
    expect(answer('RuntimeError: It went wrong. Please report this issue to the authors.').all.join()).not.toContain('The message itself says')
    expect(answer('RuntimeError: It went wrong. Please see the documentation of the loader.').all.join()).not.toContain('The message itself says')
  })
})

test('a last checkpoint is named only where the program computed', () => {
  expect(answer('ValueError: odd count').all.join()).not.toContain('checkpoint')
  expect(answer('ValueError: odd count', USER, 'step 400: loss=1.25\n').all.join()).toContain('Resume from the last checkpoint')
})

describe('what the message names', () => {
  test('the host of a request that failed', () => {
    const failed = "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='data.acme.test', port=443): Max retries exceeded with url: /a"
    expect(answer(failed).all.join('\n')).toContain('getent hosts data.acme.test; curl -sSI https://data.acme.test')
  })
  test.each([
    ['cuda:0 and cpu', /left on the host/],
    ['cuda:1 and cuda:0', /torch\.cuda\.set_device\(local_rank\)/],
  ])('the devices %s', (devices, advice) => {
    const failed = `RuntimeError: Expected all tensors to be on the same device, but found at least two devices, ${devices}!`
    expect(answer(failed).all.join('\n')).toMatch(advice)
  })
})
