// Common errors: the remedy that an expert gives first, and what must not be said.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const answer = (text: string) => {
  const faults = explainText(logScanner(), text)
  const last = faults.at(-1)
  const remedies = last?.remedies ?? []
  return { kind: faults[0]?.kind, verdict: last?.verdict ?? '', first: remedies[0], all: remedies.map((one) => `${one.text} ${one.command ?? ''}`).join('\n') }
}

test('tensor parallelism over a number that does not divide the heads: the power of two that does', () => {
  const message = 'ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (6).'
  const { kind, first } = answer(`vllm serve org/m\n${message}`)
  expect([kind, first?.command]).toEqual(['config_error', '--tensor-parallel-size 4'])
  expect(answer(`python -m sglang.launch_server\n${message}`).first?.command).toBe('--tp-size 4')
  expect(answer(message).first).toEqual({ text: 'Split the model over 4 GPUs: 40 heads divide by that, and not by 6.' })
})

test('a runtime that the containerd of a node does not know is no matter of Docker', () => {
  const pod =
    'Warning  FailedCreatePodSandBox  3s  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured'
  expect(answer(pod).first?.command).toContain('--runtime=containerd')
  expect(answer(pod).all).not.toMatch(/docker/i)
  expect(answer(`k3s node\n${pod}`).first?.command).toContain('systemctl restart k3s')
})

test('a driver that cannot load: nouveau, the open modules, Secure Boot', () => {
  expect(answer('ERROR: The Nouveau kernel driver is currently in use by your system.  This driver is incompatible with the NVIDIA driver.')).toMatchObject({
    kind: 'driver_not_loaded',
    first: { text: expect.stringContaining('blacklist') },
  })
  const open = answer('NVRM: The NVIDIA GPU 0000:05:00.0 (PCI ID: 10de:2c02)\nNVRM: installed in this system requires use of the NVIDIA open kernel modules.')
  expect(open.verdict).toBe("This GPU (10de:2c02) works only with NVIDIA's open kernel modules, and the proprietary ones are installed.")
  const refused = answer("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service")
  expect(refused.first?.command).toContain('mokutil -i')
  expect(refused.all).not.toContain('container')
})

test('torch.load that refuses more than tensors is no damaged file', () => {
  const refused = answer(
    '_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed the default value.\nWeightsUnpickler error: Unsupported global: GLOBAL lib.config.Run was not an allowed global by default.',
  )
  expect(refused.kind).toBe('checkpoint_mismatch')
  expect(refused.first?.text).toContain('lib.config.Run')
  expect(`${refused.verdict}${refused.all}`).not.toMatch(/cut off|incomplete|force-download/)
})

test('modules built for other libraries: NumPy 1, a newer libstdc++', () => {
  expect(answer('AttributeError: _ARRAY_API not found').first?.command).toBe("python -m pip install 'numpy<2'")
  const newer = answer("ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /opt/py/site-packages/fast.so)")
  expect(newer.first?.command).toContain('libstdcxx-ng')
  expect(newer.all).not.toContain('<PACKAGE>')
})

test('a quantization that the GPU is too old for: both capabilities', () => {
  const old = answer('ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 75.')
  expect([old.kind, old.verdict]).toEqual(['cuda_version_mismatch', 'Models in fp8 need compute capability 8.9; this GPU has 7.5.'])
})

test('an Xid 45 follows from the critical Xid before it, not from the note of a repair between the two', () => {
  const line = (xid: number, words: string) => `NVRM: Xid (PCI:0000:3b:00): ${xid}, pid=812, name=python, ${words}`
  const { verdict } = answer(
    [line(48, 'An uncorrectable double bit error'), line(63, 'Row Remapper: New row marked for remapping'), line(45, 'Ch 00000008')].join('\n'),
  )
  expect(verdict).toContain('Xid 48 (Uncorrectable ECC error) came before it on the same GPU')
})

test('an undefined symbol names the library that is too old, which is not the one that asks for it', () => {
  const nccl = answer('ImportError: /opt/py/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister')
  expect(nccl.verdict).toContain('needs ncclCommRegister, which the NCCL that was loaded does not have')
  expect(nccl.all).not.toContain('Install libtorch_cuda')
  const link = answer(
    'ImportError: /opt/py/lib/python3.11/site-packages/nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12',
  )
  expect(link.all).toContain('pip install --upgrade nvidia-nvjitlink-cu12')
})

test('PaddlePaddle and XGBoost: their own figures, and no advice for another program', () => {
  const paddle = answer(
    'ResourceExhaustedError: \n\nOut of memory error on GPU 1. Cannot allocate 2.250000GB memory on GPU 1, 20.500000GB memory has been allocated and available memory is only 1.250000GB.',
  )
  expect(paddle.verdict).toBe('PaddlePaddle could not allocate 2.25 GiB on GPU 1; 1.25 GiB was free; 20.50 GiB is allocated already.')
  expect(paddle.all).not.toContain('TensorFlow')
  const boosted = answer(
    'xgboost.core.XGBoostError: [12:00:00] device_helpers.cuh:431: Memory allocation error on worker 0: bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free memory: 512MB\n- Requested memory: 3GB',
  )
  expect(boosted.verdict).toContain('XGBoost could not allocate 3.00 GiB on the GPU; 512 MiB was free')
  expect(boosted.first?.text).toContain('QuantileDMatrix')
})
