// What a model file is that should be a GGUF, by the four bytes that it begins with.
import type { Piece } from '../remedies/plan.ts'

const NUMBER = /invalid magic number (?:0x)?([0-9a-f]{1,8})\b/i
const LETTERS = /invalid magic characters:? '([^'\n]{2,8})'/

/** The first four letters; the number is that of a processor whose lowest byte is first. */
function beginsWith(text: string): string | undefined {
  const letters = LETTERS.exec(text)?.[1]
  if (letters !== undefined) return letters
  const hex = NUMBER.exec(text)?.[1]?.padStart(8, '0')
  return hex === undefined ? undefined : String.fromCharCode(...[6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)))
}

export interface NotGguf {
  readonly is: string
  readonly remedies: Piece
}
const CHECK = 'head -c 200 <FILE>; ls -lL <FILE>'

/** Undefined where the text does not tell, or tells nothing that is known. */
export function notGguf(text: string): NotGguf | undefined {
  const start = beginsWith(text)
  if (start === undefined) return undefined
  if (/^(?:<!do|<htm|<\?xm|<hea)/i.test(start))
    return {
      is: 'an HTML page: the link leads to a page about the file, or to a login page',
      remedies: [
        { text: "Delete it and download the file itself: on Hugging Face its link has /resolve/ where the page's has /blob/.", command: CHECK },
        {
          text: "Or download it with the hub's client, which also sends the token for a gated model.",
          command: 'hf download <OWNER>/<MODEL> <FILE>.gguf --local-dir .',
        },
      ],
    }
  if (start === 'vers')
    return {
      is: 'a Git LFS pointer (a few lines of text): the repository was cloned without its large files',
      remedies: {
        text: 'Download the large files in the cloned folder; the model then has the size shown on its page.',
        command: 'git lfs install && git lfs pull',
      },
    }
  if (/^(?:Entr|Inva|Repo|Acce|Unau|\{"er|Forb|Not )/.test(start))
    return {
      is: 'a message of the server that refused the download',
      remedies: { text: 'Read the message in it, then download the file again with the token of an account that may read the model.', command: CHECK },
    }
  if (/^(?:gg(?:ml|mf|jt|la)|(?:lm|fm|tj|al)gg)$/.test(start))
    return {
      is: 'a model in an older format of GGML, which llama.cpp has not read since August 2023',
      remedies: { text: 'Download the same model as GGUF; most models are available in it.' },
    }
  if (start.startsWith('PK'))
    return {
      is: 'a zip archive, as PyTorch saves its weights',
      remedies: { text: 'Convert the folder of the model.', command: 'python convert_hf_to_gguf.py <MODEL_FOLDER> --outfile <FILE>.gguf' },
    }
  if (/^\0{4}$/.test(start))
    return {
      is: 'filled with zeros at its start: its space was allocated, and the download did not fill it',
      remedies: { text: 'Delete it and download it again; check the free disk space first.', command: 'df -h .' },
    }
  return undefined
}
