// Ends of jobs of the kind nan_loss; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'step after step', text: 'step 10 loss 2.1\nstep 11 loss nan\nstep 12 loss nan\nstep 13 loss nan', kinds: ['nan_loss'], facts: { step: 11 } },
  {
    name: 'by the norm of gradients',
    text: "{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.1}\n{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.2}\n{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.3}",
    kinds: ['nan_loss'],
  },
  {
    name: 'sampling',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nRuntimeError: probability tensor contains either `inf`, `nan` or element < 0',
    kinds: ['nan_loss'],
    facts: { exception: 'RuntimeError', frame: 'main.py:41' },
  },
  {
    name: 'the program stops on it',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nFloatingPointError: Loss became infinite or NaN at iteration=940!',
    kinds: ['nan_loss'],
    facts: { exception: 'FloatingPointError' },
  },
  { name: 'quiet: it recovers', text: 'step 10 loss 2.1\nstep 11 loss nan\nstep 12 loss 2.0\nstep 13 loss 1.9', kinds: [] },
  { name: 'quiet: a metric of an empty set', text: 'epoch 1 train_loss 0.4 val_loss nan\nepoch 2 train_loss 0.3 val_loss nan', kinds: [] },
  {
    name: 'a picture of NaNs',
    text: 'modules.devices.NansException: A tensor with all NaNs was produced in VAE. Try --no-half-vae.',
    kinds: ['nan_loss'],
  },
]
