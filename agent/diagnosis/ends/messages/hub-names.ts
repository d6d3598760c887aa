// A name that the model hub does not know: not set, outdated, or of a model that this token may not see.
import { setVariables } from '../../faults/remedies/environment.ts'
import { type Known, only } from './message.ts'

export const HUB_NAMES: readonly Known[] = [
  {
    // hf-xet, the client of the hub's storage: it has servers of its own, and many connections at once.
    pattern: /Data processing error: CAS (?:service|Client) error ?: ?([^\n]{3,200})/i,
    title: "A download from the hub's Xet storage failed",
    says: 'Files come from cas-server.xethub.hf.co and its storage, not from huggingface.co itself: a proxy or firewall may let only that one through, the connection is too slow for so many requests at once, or the disk is.',
    remedies: ([, why = ''], { situation }) => [
      /did not match|length|hash|corrupt/i.test(why) && {
        text: 'Its cache may hold a piece that is damaged: remove it (it is filled again), and update the client.',
        command: `${situation.system === 'windows' ? '' : 'rm -rf ~/.cache/huggingface/xet\n'}python -m pip install --upgrade hf-xet huggingface_hub`,
        destroys: true,
      },
      { text: 'Download without Xet, over plain HTTPS: files that are complete are kept.', command: setVariables(situation, { HF_HUB_DISABLE_XET: '1' }) },
      { text: 'Or let it open fewer connections at once.', command: setVariables(situation, { HF_XET_NUM_CONCURRENT_RANGE_GETS: '4' }) },
      !/did not match|length|hash|corrupt/i.test(why) && { text: 'Update the client.', command: 'python -m pip install --upgrade hf-xet huggingface_hub' },
    ],
  },
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
