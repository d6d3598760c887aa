// The machine around a program, as far as the text shows it: vendor of the GPU, operating system, container, orchestrator.

export type Vendor = 'nvidia' | 'amd' | 'intel' | 'apple'

const AMD =
  /\bHIP (?:out of memory|error|GPUs)|\bhip[A-Z]\w{2,40}|\bROCm(?:\d|_Host)?\b|\brocm\b|\bamdgpu\b|\bgfx\d{3,4}\b|PYTORCH_HIP_ALLOC_CONF|Memory access fault by GPU node|libamdhip|\bMIOpen|\brocBLAS\b|\bTensile\b|\bamdsmi\b|\bROCk module\b|\bHSA_STATUS_|\brocdevice\.cpp|\bhipify\b|\brccl\b|\bHIP failure/i
/** `torch.cuda`, `PYTORCH_CUDA_ALLOC_CONF` and the link to the notes on CUDA are in texts of PyTorch for AMD too. */
const SHARED_NAMES =
  /PYTORCH_CUDA_ALLOC_CONF|notes\/cuda\.html|torch[./]cuda\b|optimizing-memory-usage-with-pytorch-cuda|CUDACachingAllocator|unhandled cuda error|Torch not compiled with CUDA enabled/gi
/** RCCL keeps the words of NCCL. */
const RCCL = /\bhipify\b|\brccl\b/
/** llama.cpp compiles the same files for both, and says "CUDA error" on either. */
const GGML_NAMES = /ggml[-_/](?:init_)?cu(?:da|blas)[\w.-]{0,20}|CUDA error|CUDA_Host|compute capability/g
const NVIDIA =
  /nvidia|\bNVRM\b|\bMIG [Mm]ode\b|undefined symbol: cu[A-Z]|GeForce|\bTesla\b|\bRTX\b|NVML|\bXid\b|\b[AHB][12]00\b|libcud|cudnn|cublas|cusolver|cufft|cusparse|curand|\bcuda|Quadro|compute capability|hw_?\w{0,14}slowdown|[Cc]locks?[ _](?:[Ee]vent|[Tt]hrottle)[ _][Rr]eason/i
const INTEL = /\bXPU\b|level[_-]zero|oneAPI|intel_extension_for_pytorch|\b(?:UR|ZE)_RESULT_ERROR|\bi915 \d{4}:|\bxe \d{4}:/i
const APPLE = /\bMPS backend|\/opt\/homebrew\b|\bmacosx?\b|\bdarwin\b/i

/** Undefined where nothing tells, or two do. */
export function vendor(text: string): Vendor | undefined {
  const amd = AMD.test(text)
  const nvidia = NVIDIA.test((RCCL.test(text) ? text.replaceAll('Cuda failure', '') : text).replace(SHARED_NAMES, ''))
  if (amd && !nvidia) return 'amd'
  if (nvidia && !amd) return 'nvidia'
  if (amd)
    return /\bHIP (?:out of memory|error)|hip(?:Error|Malloc)/.test(text) || !NVIDIA.test(text.replace(SHARED_NAMES, '').replace(GGML_NAMES, ''))
      ? 'amd'
      : undefined
  if (INTEL.test(text)) return 'intel'
  return APPLE.test(text) ? 'apple' : undefined
}

/** Of one line: words that both vendors' builds print say nothing. */
export const vendorOfLine = (line: string): Vendor | undefined => vendor(line.replace(GGML_NAMES, ''))

export type System = 'windows' | 'wsl' | 'mac' | 'linux'
const WINDOWS =
  /(?:^|\n)PS [A-Z]:\\[^\n>]{0,120}>|(?:^|[\s"'([=])[A-Za-z]:\\{1,2}\w|(?:^|[\s"'([=])[A-Z]:\/\w|WinError|\[DXGI\]|\bbuilt with MSVC\b|\(os error 1455\)|DefaultCPUAllocator: not enough memory|File "(?:\.{1,2}\\)?\w[\w.-]{0,60}\\\w|0x[cC]0000[0-9A-Fa-f]{3}\b|\b32212(?:25477|25501|25781|26505)\b|\\Scripts\\python\.exe|WindowsPath\(|win_amd64|\bMSC v\.\d|(?:[Pp]latform|[Ss]ystem|\bOS): ?[Ww]in|\.\.\\{1,2}(?:c10|aten|torch)\\|\\AppData\\|(?:^|[\s"'])~\\\w|Compiler: cl is not found|\bnvlddmkm\b|\bVIDEO_TDR_|(?:Press any key|beliebige Taste|任意键继续|touche pour continuer|tecla para continuar|tasto per continuare)[^\n]{0,30}\. \. \.|\b[Bb]ugcheck|--windows-standalone-build|ComfyUI_windows_portable|python_embeded| \.\\tensorflow\/|[\s'"=](?:\.{1,2}\\)?\w[\w.-]{0,60}\\[\w.\\-]{1,120}\.(?:gguf|safetensors|onnx|exe)\b/
/** Tried at every word, so only where one can be. */
const DLL = /\b\w{1,60}\.dll\b/
/** Only named: a text from WSL names Windows too. */
const NAMES_WINDOWS = /\b[Ww]in(?:dows)? ?(?:1[01]|[78]|x64|[Ss]erver)\b|^(?:[^\n]{0,60}platforms?\b[^\n]{0,30}: )?Windows\s*$/m
const WSL =
  /\b(?:WSL|wsl)2?\b|\w@(?:DESKTOP|LAPTOP)-[A-Z\d]{7}:|\/mnt\/[a-z]\/(?:Users|Windows|Program Files)\b|microsoft-standard|\/usr\/lib\/wsl|\bdxg\w{0,20}:/
const MAC = /(?:^|[\s"'(=])\/Users\/\w|\/opt\/homebrew\b|\bmac ?osx?\b|\bdarwin\b|\bMac(?:Book| ?(?:laptop|mini|Studio|Pro))\b|\bApple (?:Silicon|M\d)\b/i
const LINUX = /(?:^|[\s"'(=])\/(?:home|root|usr|opt|var|data|workspace|mnt|tmp|dev|etc|app|proc|scratch)\/|\.so\b|systemd|kernel: /

/** Linux only where something shows it, so that advice for one system is not given to all. */
export function system(text: string): System | undefined {
  if (WINDOWS.test(text) || (text.includes('.dll') && DLL.test(text) && !text.includes('.dll: invalid ELF header'))) return 'windows'
  if (WSL.test(text)) return 'wsl'
  if (NAMES_WINDOWS.test(text)) return 'windows'
  if (MAC.test(text)) return 'mac'
  return LINUX.test(text) ? 'linux' : undefined
}

/** NVIDIA's boards whose GPU shares the memory of the CPU: nvidia-smi lists no processes there. */
export const jetson = (text: string): boolean => /NvMap|\b[Jj]etson\b|\b[Tt]egra/.test(text)

/** Colab or Kaggle, which bring machine and driver: nobody sees the kernel's log or changes the driver there. */
export const hosted = (text: string): boolean =>
  // Colab's Python is the system's, and its IPython names cells in a way that others have given up.
  /\/tmp\/ipython-input-\d|\/usr\/local\/lib\/python3\.\d{1,2}\/dist-packages\/\S{1,200} in \w{1,60}\(/.test(text) ||
  // Asked in a cell of a runtime without a GPU.
  /^!\s?nvidia-smi\b[^\n]{0,80}\n\s{0,4}\/bin\/bash: (?:line \d: )?nvidia-smi: command not found/m.test(text) ||
  /\bgoogle\.colab\b|(?:^|[\s"'(=])\/(?:content\/|kaggle\/(?:working|input|lib)\b)/im.test(text)
/** Cells of a notebook ran: variables are set in a cell, and what they left on the GPU stays until the kernel starts again. */
export const notebook = (text: string): boolean =>
  /\bipython-input-\d|dist-packages\/\S{1,200} in \w{1,60}\(|[\\/]ipykernel_\d|^Cell In ?\[\d|^-{4,5}> ?\d{1,5} \S|^[!%]p(?:ip|ython)3? /im.test(text) ||
  hosted(text)

/** Game cards and games: DCGM's diagnostics and drains are not for them. */
export const gaming = (text: string): boolean =>
  /GeForce|\b(?:GTX|RTX) ?\d{3,4}\b|\.e(?:xe)?,|Win64|RenderThread|Warhammer|steam|vulkan|\bVK(?:_ERROR_|::|\.error)|vkQueueSubmit|\bDXVK\b|vkd3d|GravityMark|Unigine|FurMark|xfce|gnome|name=(?:X|Xorg|Xwayland|chrom\w{0,4}|firefox|brave|vivaldi|msedge|opera|thunderbird|discord|slack|spotify|kwin\w{0,12}|electron|obs|mpv|vlc|kodi|sway|hyprland|weston|gamescope|cosmic-\w{0,10}|GameThread|RHIThread|Unreal\w{0,9}|UE[45]\w{0,9}|Unity\w{0,9}|Godot\w{0,8}|wine\w{0,10}|Web Content|GPU Process|WebKit\w{0,10})\b|-Shipping\b|plasma|Process (?:firefox|chrom|cosmic|X)/i.test(
    text,
  )
