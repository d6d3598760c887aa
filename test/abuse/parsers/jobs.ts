// Readers of what jobs and servers say: how a run ended, how far it is, why it hangs, what an inference server tells of itself.
import { explainRunEnd } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { EvidenceError, type EvidenceFile } from '../../../agent/hang/evidence/definition.ts'
import * as evidenceReaders from '../../../agent/hang/evidence/index.ts'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { createEvidence } from '../../../agent/hang/model.ts'
import { createFeed } from '../../../agent/progress/feed.ts'
import { createProgressReader } from '../../../agent/progress/reader.ts'
import * as families from '../../../agent/servers/families/index.ts'
import { parseListResponse } from '../../../agent/sources/pod-resources/list-response.ts'
import { json, parserOf, sharedSeeds, textParser } from './parser.ts'

const TRACEBACK = [
  '[rank2]: Traceback (most recent call last):',
  '[rank2]:   File "/app/finetune.py", line 131, in <module>',
  '[rank2]:     main(config)',
  '[rank2]: ValueError: the labels do not fit',
  '',
  'The above exception was the direct cause of the following exception:',
  '',
  'Traceback (most recent call last):',
  '  File "/app/run.py", line 3, in <module>',
  'RuntimeError: worker 2 failed',
  "terminate called after throwing an instance of 'std::bad_alloc'",
  'Fatal Python error: Segmentation fault',
  'Current thread 0x00007f0000000000 (most recent call first):',
  '  File "/app/run.py", line 9 in step',
  'slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2031-02-03T04:05:06 DUE TO TIME LIMIT ***',
]
const PROGRESS = [
  'Epoch 2:  41%|████      | 410/1000 [02:11<03:09,  3.12it/s, loss=0.61]',
  "{'loss': 0.5123, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.12}",
  'iteration 120/ 5000 | elapsed time per iteration (ms): 412.3 | lm loss: 2.31E+00',
  'step=140 loss=nan tokens/s=18,200',
  '[04:05:06] Epoch: [3] [ 20/312] eta: 0:02:11 time: 0.45 loss: 1.23',
]

export const runEnd = textParser(
  'run-end',
  'the last lines of a run, and its exit code',
  [TRACEBACK.join('\n'), ...TRACEBACK, ...sharedSeeds('real-jobs/dev/logs/ends-ckpt-sizes.log', 'real-jobs/dev/logs/ends-accelerate-sigkill.log')],
  (text) => void explainRunEnd(logScanner(), text.split('\n'), { exitCode: 1 }, () => ({})),
  { mostBytes: 32_768, inputs: 100_000 },
)
export const progressOfJob = textParser(
  'progress',
  'what a job prints of its progress',
  [PROGRESS.join('\n'), PROGRESS.join('\r'), ...PROGRESS],
  (text) => {
    const reader = createProgressReader()
    const feed = createFeed(reader)
    feed.push(text)
    feed.end()
    reader.progress(true)
    reader.ranks(true)
  },
  { inputs: 100_000 },
)

const DUMP = json({
  version: '2.10',
  pg_config: { '0': { name: '0', desc: 'default_pg', ranks: '[0, 1]' } },
  pg_status: { '0': { last_enqueued_collective: 3, last_started_collective: 3, last_completed_collective: 2 } },
  entries: [
    {
      record_id: 2,
      pg_id: 0,
      process_group: ['0', 'default_pg'],
      collective_seq_id: 3,
      op_id: 3,
      profiling_name: 'nccl:all_reduce',
      input_sizes: [[4, 8]],
      output_sizes: [[4, 8]],
      input_dtypes: ['Float'],
      output_dtypes: ['Float'],
      state: 'scheduled',
      retired: false,
      time_created_ns: 1_763_600_000_000_000_000,
      frames: [{ name: 'step', filename: '/app/train.py', line: 41 }],
    },
  ],
})
const STACKS = 'Thread 0x00007f0000000000 (most recent call first):\n  File "/app/train.py", line 41 in step\n  File "/app/train.py", line 60 in <module>\n'
const WATCHDOG =
  '[rank1]:[E203 04:05:06.789012345 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=32, NumelOut=32, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.'
const RAS = json({ nccl_version: '2.29.2', timestamp: '2031-02-03 04:05:06', communicators: [{ hash: '0x1', ranks: [{ rank: 0, counts: { AllReduce: 3 } }] }] })

export const hangEvidence = parserOf(
  'hang-evidence',
  'a file of evidence of a hung job: dump, log, stacks, RAS, hosts, GPUs',
  [
    DUMP,
    STACKS,
    WATCHDOG,
    RAS,
    json({ '0': { host: 'a', pid: 3 } }),
    ...sharedSeeds('real-jobs/dev/hangs/lock/dumps/fr_rank_0', 'real-jobs/dev/hangs/lock/stacks/rank_1.txt'),
  ].map((seed) => Buffer.from(seed)),
  (input) => {
    const file: EvidenceFile = {
      path: 'rank_0',
      name: 'rank_0',
      rank: 0,
      head: input.subarray(0, 4_096),
      bytes: () => input,
      text: () => input.toString('utf8'),
    }
    const evidence = createEvidence()
    const reader = Object.values(evidenceReaders).find((one) => one.recognises(file))
    reader?.read(file, evidence)
    judge(evidence)
  },
  { inputs: 100_000, refuses: (error) => error instanceof EvidenceError },
)

const PAGES = [
  '# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name="m"} 3.0\nvllm:kv_cache_usage_perc{model_name="m"} 0.5\nvllm:time_to_first_token_seconds_bucket{le="0.1",model_name="m"} 4.0\nvllm:time_to_first_token_seconds_bucket{le="+Inf",model_name="m"} 5.0\n',
  json({ models: [{ name: 'm', size: 100, size_vram: 50, details: { quantization_level: 'Q4_0' }, context_length: 4096 }] }),
  json({ system: { comfyui_version: '0.3' }, devices: [{ name: 'cuda:0', vram_total: 10, vram_free: 5 }] }),
  'INFO 02-03 04:05:06 worker.py:1] GPU KV cache size: 1,234,567 tokens\nmodel weights take 14.99GiB; PyTorch activation peak memory takes 1.2GiB\n',
]
export const serverPages = textParser(
  'server-pages',
  'pages and logs of inference servers, by each family',
  [...PAGES, ...sharedSeeds('fixtures/inference/vllm-0.23-metrics-after-520-requests.prom', 'fixtures/inference/llamacpp-0.5.0-own-props.json')],
  (text) => {
    for (const family of Object.values(families)) {
      family.proof.read({ body: text, headers: {} })
      for (const page of family.pages) page.read(text, { argv: [], figures: {} })
      if ('log' in family) family.log(text)
    }
  },
  // 14 families with two or three pages each.
  { inputs: 20_000, msPer64KiB: 1_400 },
)
export const podResources = parserOf(
  'pod-resources',
  "the kubelet's answer",
  [Buffer.from('0a150a037472611203646566220909', 'hex'), ''],
  (input) => void parseListResponse(input),
)
