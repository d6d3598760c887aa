// The same kinds a last time: what is not installed, what does not fit, and what a scheduler did not give.
import { rows } from './advice-rows.ts'

rows('libraries and services', [
  [
    'a Fabric Manager that is not installed',
    'UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized\n$ systemctl status nvidia-fabricmanager\nUnit nvidia-fabricmanager.service could not be found.\n| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |',
    /not installed here[^]*\(535\.104\.05\)[^]*nvidia-fabricmanager-535/,
  ],
  [
    'a Fabric Manager that may be',
    'UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized',
    /start the Fabric Manager/,
    /not installed here/,
  ],
  [
    'where a part of cuDNN was taken from',
    'Could not load library libcudnn_cnn_infer.so.8. Error: /usr/lib/x86_64-linux-gnu/libcudnn_cnn_infer.so.8: undefined symbol: _ZN5cudnn3ops26JIT, version libcudnn_ops_infer.so.8\nAborted (core dumped)',
    /taken from \/usr\/lib\/x86_64-linux-gnu, and does not fit the libcudnn_ops_infer\.so\.8[^]*the folder of the system/,
  ],
])

rows('room and devices', [
  [
    'a limit that the program set, by its rounded figures',
    'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 191.98 GiB of which 180.00 GiB is free. 1.05 GiB allowed; Of the allocated memory 1017.01 MiB is allocated by PyTorch, with 17.00 MiB allocated in private pools (e.g., HIP Graphs), and 54.99 MiB is reserved by PyTorch but unallocated.',
    /may only use 1\.05 GiB: a memory fraction is set/,
    /kernel log|dmesg/,
  ],
  [
    'a hub that the job was told to leave alone',
    'huggingface_hub.utils._http.OfflineModeIsEnabled: Cannot reach https://huggingface.co/some-org/some-model/resolve/main/config.json: offline mode is enabled. To disable it, please unset the `HF_HUB_OFFLINE` environment variable.',
    /HF_HUB_OFFLINE is set[^]*unset HF_HUB_OFFLINE/,
    /no way to the hub|HTTPS_PROXY/,
  ],
  [
    'the size that a storage driver gives',
    'failed to register layer: ApplyLayer exit status 1 stdout:  stderr: mkdir /usr/local/lib/python3.6/dist-packages/torch/testing: no space left on device\n$ docker info | grep -A3 Storage\n Storage Driver: devicemapper\n  Pool Name: docker-pool\n  Base Device Size: 10.74GB',
    /devicemapper gives each image and container 10\.74 GB[^]*overlay2/,
  ],
  [
    "the web UI's decoding of the finished image",
    '  File "/srv/stable-diffusion-webui/modules/processing.py", line 423, in decode_first_stage\n    x = model.decode_first_stage(x)\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB (GPU 0; 8.00 GiB total capacity; 5.42 GiB already allocated; 0 bytes free; 6.19 GiB reserved in total by PyTorch)',
    /It failed in the VAE decode[^]*--medvram/,
  ],
  [
    'a task that Slurm gave no GPU',
    '$ srun -p gpu --pty bash\n$ python -c "import torch; torch.zeros(1).cuda()"\nRuntimeError: No CUDA GPUs are available\n$ echo $CUDA_VISIBLE_DEVICES\nNoDevFiles',
    /CUDA_VISIBLE_DEVICES is NoDevFiles[^]*srun --gpus=1/,
    /sbatch/,
  ],
])
