// Tensors of one operation on different devices.
import { WEIGHT, anyOf, openFrame, saying, says, type EndKind, type EndContext } from '../end-kind.ts'
import type { Piece } from '../../faults/remedies/plan.ts'

/** The older form: the type of a tensor on a GPU says so. */
const BY_TYPE = /Input type \((?:torch\.)?(cuda\.)?\w{1,20}\) and (?:weight|bias) type \((?:torch\.)?(cuda\.|CUDA)?\w{1,20}\) should be the same/
/** Which devices the message names decides what was forgotten: a tensor on the CPU, or one of a model that is on several GPUs. */
function moved({ error }: EndContext): readonly Piece[] {
  if (/module parameters locate in|module must (?:be|have its parameters) on/.test(error?.message ?? ''))
    return [
      {
        text: 'Move the whole model before it is wrapped: model.to(device). Layers that stay behind are kept in a plain list or dict (use nn.ModuleList, nn.ModuleDict), or were made after the move.',
      },
      { text: "See which they are: print([name for name, p in model.named_parameters() if p.device.type == 'cpu'])." },
    ]
  if (/\bjitted computation\b/.test(error?.message ?? ''))
    return [{ text: 'Bring all arguments to the same devices before the call: jax.device_put(x, sharding), with shardings of one mesh.' }]
  const types = BY_TYPE.exec(error?.message ?? '')
  if (types !== null && (types[1] === undefined) !== (types[2] === undefined))
    return [
      types[1] === undefined
        ? { text: 'The weights are on the GPU, and the input on the CPU: bring each batch there, x = x.to(device), in training and in evaluation.' }
        : {
            text: 'The input is on the GPU, and the weights on the CPU: move the model, model.to(device). Layers that stay behind all the same are kept in a plain list or dict (use nn.ModuleList, nn.ModuleDict), or are made in forward().',
          },
    ]
  const named = [...new Set((error?.message ?? '').match(/\b(?:cuda:\d{1,2}|cpu)\b/g))]
  const gpus = named.filter((name) => name !== 'cpu')
  if (gpus.length > 1)
    return [
      {
        text: 'One model on several GPUs (device_map): bring each input to the device of the part that takes it, x.to(layer.weight.device), and the loss to that of the labels.',
      },
      { text: 'In DDP each process uses one GPU only: torch.cuda.set_device(local_rank) first, and no cuda:0 in the code.' },
    ]
  return [
    {
      text: `Move model and inputs to one device: \`model.to(device)\`, \`batch = {k: v.to(device) for k, v in batch.items()}\`.${named.includes('cpu') ? ' What is named cpu was left on the host: often a tensor that the code makes itself (`torch.zeros(..., device=x.device)`).' : ' Make new tensors there too (`torch.zeros(..., device=x.device)`).'}`,
    },
  ]
}

export const deviceMismatch: EndKind = {
  kind: 'device_mismatch',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    says(
      /to be on the same device|Received incompatible devices for jitted computation|must be on the same type of devices|on different devices|is not on the expected device|must be on the same device|same device(?:,| but| \(|:)|(?:tensors?|module|inputs?|model|parameters|weights?)\b.{0,80}\bon (?:the )?(?:device )?(?:cuda|cpu|meta|mps|xpu)(?::\d{1,2})?\b.{0,80}\b(?:but|and|while|vs)\b.{0,80}\b(?:cuda|cpu|meta|mps|xpu)/is,
      WEIGHT.message,
    ),
    says(
      /can't convert \S{1,20} device type tensor to numpy|Cannot copy out of meta tensor|Expected object of backend \w{2,8} but got backend|Expected object of device type \w{1,10} but got device type|Expected a '\w{1,10}' (?:device type )?(?:generator|tensor)|expected device \S{1,12} but got|Attempting to deserialize object on (?:a )?CUDA|indices should be either on (?:cpu|the same device)|Tensor for argument #\d{1,2} .{0,60} is on (?:CPU|GPU), but expected it to be on|torch\.cuda\.\w{1,20}Tensor is not (?:on|equal)|expected (?:all tensors|self|mat2|tensor).{0,60}\b(?:on|device)\b|cannot be accessed from Triton/i,
      WEIGHT.message,
    ),
    ({ full }) => {
      const objects = /Expected (?:object|tensor) .{0,60}type torch\.(cuda\.)?\w{3,20} but (?:found|got) (?:\w{1,12} ){0,2}type torch\.(cuda\.)?\w{3,20}/.exec(
        full,
      )
      return objects !== null && (objects[1] === undefined) !== (objects[2] === undefined) ? { weight: WEIGHT.message + 0.5 } : undefined
    },
    ({ full }) => {
      const types = /Input type \((?:torch\.)?(cuda\.)?(\w{1,20})\) and (?:weight|bias) type \((?:torch\.)?(cuda\.|CUDA)?(\w{1,20})\) should be the same/.exec(
        full,
      )
      return types !== null && (types[1] === undefined) !== (types[3] === undefined) ? { weight: WEIGHT.message + 0.5 } : undefined
    },
  ),
  title: (context) => `Tensors on different devices${context.facts.frame === undefined ? '' : ` at ${context.facts.frame}`}`,
  verdict: (context) =>
    saying(
      context,
      /deserialize object on/.test(context.error?.message ?? '') ? 'could not load a checkpoint' : 'used tensors of different devices in one operation',
    ),
  remedies: (context) => [
    ...moved(context),
    openFrame(context),
    /numpy/.test(context.error?.message ?? '') && { text: 'NumPy needs host memory: use `tensor.detach().cpu().numpy()`.' },
    { text: 'Register constants of a module as buffers (`register_buffer`), so that they move with it.' },
  ],
}
