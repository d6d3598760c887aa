// What the driver of a Jetson says of a bad address: it has no Xids, and its notifiers bear the same numbers.
import type { Rule } from './rules.ts'
import { around } from './window.ts'

export const JETSON_FAULT = '[MMU FAULT] mmu engine id'
export const jetsonFault: Rule = {
  severity: 'critical',
  title: 'Page fault on the GPU of a Jetson',
  pattern: /\bnvgpu: (\S{1,40})\s[^\n]{0,80}\[MMU FAULT\] mmu engine id[^\n]{0,60}fault addr: (0x[\da-f]{1,16})/,
  facts: () => ({}),
  verdict: ({ match, text, at }) => {
    const owner = /error notifier set to \d{1,3} for ch \d{1,5} owned by (\S{1,40})/.exec(around(text, at, 2, 12))?.[1]
    return `The GPU of the Jetson (${match[1]}) accessed an invalid address${Number(match[2]) === 0 ? ', 0: a null pointer' : `, ${match[2]}`}${owner === undefined ? '' : `, for ${owner}`}. Likely a bug in the program or a library.`
  },
  remedies: [
    { text: 'Run the program again with synchronous launches: the stack then shows the call that failed.', command: 'export CUDA_LAUNCH_BLOCKING=1' },
    { text: 'See what the driver says of it, and which program owned the channel.', command: "sudo dmesg -T | grep -E 'nvgpu|tegra' | tail -n 40" },
  ],
}
