// Messages about data sets, registries of OpenMMLab, Lightning's metrics and files of Diffusers with one reason each.
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const ROWS: readonly Row[] = [
  [
    // mmap(2): ENODEV. Seen on drives of Windows in WSL and on some network shares. https://github.com/ostris/ai-toolkit/issues/836
    /No such device \(os error 19\)/,
    'Copy the model to a file system of Linux itself (in WSL below /home, not /mnt/c) and load it from there.',
    'df -T <FOLDER>',
    'Safetensors maps its files into memory, and the file system of the model does not allow that.',
    'The model is on a file system that cannot map files',
  ],
  [
    /offset overflow while concatenating arrays/,
    'Let the steps write less at once: map(…, writer_batch_size=100), and more, smaller files. Columns of very long texts or bytes: cast them to large_string or large_binary, or keep paths of files in place of their content.',
    undefined,
    'Arrow counts the bytes of a column of texts with 32 bits: a piece of more than 2 GiB does not go into it.',
    'A column of the data set is too large for one piece',
  ],
  [
    /Could not push packet to decoder|Invalid data found when processing input|moov atom not found/,
    'Find the files that cannot be read, and download or convert them again: they are truncated, damaged, or Git LFS pointers (git lfs pull).',
    'find <DATASET> -name \'*.mp4\' -exec sh -c \'ffmpeg -v error -i "$1" -f null - >/dev/null 2>&1 || echo "$1"\' _ {} \\;',
    'FFmpeg finds no picture where one should be. If every file can be read on its own, the workers share an open decoder: open it in each of them, or use num_workers=0.',
    'A video of the data set cannot be decoded',
  ],
  [
    /JSON parse error|changed from (?:object|array|string|number) to|Couldn't cast|cannot mix (?:list|struct)|Expected bytes, got a/,
    'Bring the samples of all files to one form: the same columns, and each column always of one type (text, list, number). A file with one object in each line is JSON Lines; empty lists and mixed types are what differs mostly.',
    'head -c 600 <FILE>; python -m json.tool <FILE> | head -n 40',
    undefined,
    'The files of the data set do not have one form',
  ],
  [
    /^'?[\w.]{1,80} is not in the [\w ]{1,40} registry/,
    'Import the module that registers the class before the configuration is built: custom_imports = dict(imports=[…], allow_failed_imports=False), the import in its __init__.py, and the project in PYTHONPATH. A name of newer releases needs the newer package.',
    undefined,
    undefined,
    'The class was never registered',
  ],
  [
    /No [`']?(\w{3,40}_dataloader)\(\)[`']? method defined to run/,
    'Define that method, pass the loader to the call, or leave the call out. A training before it had ended: its checkpoints are written.',
    undefined,
    undefined,
    'Lightning has no data for that step',
  ],
]

export const DATA: readonly Known[] = ofRows(ROWS)
