// Ends of jobs of the kind file_missing; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'with a path',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nFileNotFoundError: [Errno 2] No such file or directory: \'/mnt/sets/wiki/part-0.parquet\'',
    kinds: ['file_missing'],
    facts: { path: '/mnt/sets/wiki/part-0.parquet', errno: 2, frame: 'main.py:41' },
  },
  {
    name: 'raised by the program',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nRuntimeError: checkpoint directory /ckpt/run3 does not exist',
    kinds: ['file_missing'],
    facts: { path: '/ckpt/run3' },
  },
  {
    name: 'the script itself',
    text: "python3: can't open file '/srv/job/trainn.py': [Errno 2] No such file or directory",
    kinds: ['file_missing'],
    facts: { path: '/srv/job/trainn.py', errno: 2 },
  },
  {
    name: 'quiet: it is made',
    text: '2026-03-02 10:00:00,000 INFO cache: /ckpt/run3 does not exist, creating it\n2026-03-02 10:00:01,000 INFO cache: ready',
    kinds: [],
  },
  {
    name: 'Java, whose own frames come first',
    text: 'Exception in thread "main" java.io.FileNotFoundException: /data/rows-7.avro (No such file or directory)\n\tat java.base/java.io.FileInputStream.open(FileInputStream.java:216)\n\tat org.example.Rows.read(Rows.scala:40)\n\tat org.example.Main.main(Main.scala:9)',
    kinds: ['file_missing'],
    facts: { path: '/data/rows-7.avro', frame: 'Rows.scala:40' },
  },
  {
    name: 'an image that is not there',
    text: 'Warning  Failed  2s  kubelet  Failed to pull image "reg.acme.org/a/b:v1": failed to pull and unpack image "reg.acme.org/a/b:v1": failed to resolve reference "reg.acme.org/a/b:v1": reg.acme.org/a/b:v1: not found',
    kinds: ['file_missing'],
  },
  {
    name: 'a file of a ComfyUI workflow',
    text: "  - Value not in list: lora_name: 'style-a.safetensors' not in ['style-b.safetensors']",
    kinds: ['file_missing'],
  },
  {
    name: 'cd of a script',
    text: './scripts/fit.sh: line 27: cd: /srv/state: No such file or directory',
    kinds: ['file_missing'],
    facts: { path: '/srv/state' },
  },
  {
    name: 'R says the file in its warning',
    text: 'Error in file(file, "rt") : cannot open the connection\nCalls: read.csv -> read.table -> file\nIn addition: Warning message:\nIn file(file, "rt") :\n  cannot open file \'in/cells.csv\': No such file or directory\nExecution halted',
    kinds: ['file_missing'],
    facts: { path: 'in/cells.csv' },
  },
  {
    name: "Intel's Fortran",
    text: 'forrtl: severe (29): file not found, unit 12, file /srv/run/IN\nImage              PC                Routine            Line        Source\nocean              000000000153FF4D  Unknown               Unknown  Unknown',
    kinds: ['file_missing'],
    facts: { path: '/srv/run/IN' },
  },
]
