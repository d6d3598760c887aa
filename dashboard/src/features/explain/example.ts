// A log to see the page at work with, written for this: memory that ran out because another process holds the card, and what followed.
export const EXAMPLE = `2026-03-02 09:14:07 INFO  step 1840 | loss 2.113 | 11.9k tokens/s | 61.2 GiB
2026-03-02 09:14:19 INFO  step 1850 | loss 2.108 | 11.9k tokens/s | 61.2 GiB
2026-03-02 09:14:31 INFO  step 1860 | loss 2.117 | 11.8k tokens/s | 61.3 GiB
2026-03-02 09:14:33 INFO  evaluating on 512 samples, batch 32
[rank0]: Traceback (most recent call last):
[rank0]:   File "/workspace/train.py", line 212, in <module>
[rank0]:     main()
[rank0]:   File "/workspace/train.py", line 188, in main
[rank0]:     metrics = evaluate(model, loader)
[rank0]:   File "/workspace/evaluate.py", line 41, in evaluate
[rank0]:     logits = model(batch)
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 2.31 GiB is free. Process 48113 has 13.80 GiB memory in use. Including non-PyTorch memory, this process has 62.98 GiB memory in use. Of the allocated memory 61.40 GiB is allocated by PyTorch, and 702.00 MiB is reserved by PyTorch but unallocated.
[rank1]:[E302 09:24:35.120 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9121, OpType=ALLREDUCE, NumelIn=524288, NumelOut=524288, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.
[rank1]:[E302 09:24:35.241 ProcessGroupNCCL.cpp:694] [Rank 1] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.
torchrun: worker 0 exited with code 1
`
