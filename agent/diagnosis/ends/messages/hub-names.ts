// A name that the model hub does not know: not set, outdated, or of a model that this token may not see.
import { setVariables } from '../../faults/remedies/environment.ts'
import { type Known, only } from './message.ts'

export const HUB_NAMES: readonly Known[] = [
  {
    pattern: /(?:^|[\s:])(?:None|null|undefined) is not a local folder and is not a\s{1,3}valid\s{1,3}model identifier/,
    title: 'No model was named',
    says: 'What the program gave as the name of the model is None: it was not set, or is not read from where it was set.',
    remedies: only(
      'Give the program the name or the folder of its model: look from where it takes it (an option, a configuration file, an environment variable).',
    ),
  },
  {
    pattern: /(?:^|[\s:])(?!\.{0,2}[\\/])([\w.-]{1,96}(?:\/[\w.-]{1,96})?) is not a local folder and is not a\s{1,3}valid\s{1,3}model identifier/,
    title: ([, name]) => `The hub does not show ${name}`,
    says: 'There is no repository of that name (any more), or it is private or gated and no token with access to it was sent.',
    remedies: ([, name = ''], { situation }) => [
      {
        text: `See whether there is a ${name}: 200 says yes, also where it is gated; 401 or 404 that it is private or not there, so another name or a copy of it is needed.`,
        command: `curl -s -o /dev/null -w '%{http_code}\\n' https://huggingface.co/api/models/${name}`,
      },
      {
        text: `If it is gated or private: accept its terms on https://huggingface.co/${name} with your account, and give the program the token of that account.`,
        command: setVariables(situation, { HF_TOKEN: '<TOKEN>' }),
      },
      { text: `If a folder was meant: start the program where the folder ${name} is, or give its whole path.` },
    ],
  },
]
