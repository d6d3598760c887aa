// Cases of the check compose-gpu-missing.
import { asking, written } from '../compose-text.ts'
import { engineFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const image = (name: string, more = '') => `services: {a: {image: '${name}'${more === '' ? '' : `, ${more}`}}}`
const GPU = 'gpus: all'

export const cases: readonly CheckCase[] = [
  { about: 'CUDA with a GPU', scene: written(image('nvidia/cuda:12.9.0-base-ubuntu24.04', GPU)), status: 'pass' },
  {
    about: 'CUDA under a default runtime',
    scene: written(image('nvidia/cuda:12.9.0-base-ubuntu24.04'), { engine: engineFacts({ defaultRuntime: 'nvidia' }) }),
    status: 'pass',
  },
  { about: 'PyTorch without', scene: written(image('pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime')), status: 'warn', says: /PyTorch.*count: 1/ },
  { about: 'vLLM without', scene: written(image('docker.io/vllm/vllm-openai@sha256:abc')), status: 'warn', says: /vLLM/ },
  {
    about: 'TGI from a registry with a port',
    scene: written(image('reg.example:5000/huggingface/text-generation-inference:3')),
    status: 'warn',
    says: /Text Generation Inference/,
  },
  {
    about: 'built from CUDA',
    scene: written('services: {a: {build: app}}', {
      files: { '/srv/app/Dockerfile': 'ARG BASE=nvidia/cuda:12.9.0\nFROM ${BASE} AS base\nRUN true\nFROM base\n' },
    }),
    status: 'warn',
    says: /made for CUDA/,
  },
  {
    about: 'built from CUDA, its last stage is not',
    scene: written('services: {a: {build: {context: app}}}', { files: { '/srv/app/Dockerfile': 'FROM nvidia/cuda:12 AS build\nFROM debian:12\n' } }),
    status: 'skipped',
  },
  {
    about: 'the variable without a runtime',
    scene: written(image('my/app', 'environment: [NVIDIA_VISIBLE_DEVICES=all]')),
    status: 'warn',
    says: /does nothing under the runtime runc/,
  },
  {
    about: 'meant for the CPU, by a variable',
    scene: written(image('pytorch/pytorch', 'environment: {CUDA_VISIBLE_DEVICES: ""}')),
    status: 'pass',
    says: /meant for the CPU/,
  },
  { about: 'meant for the CPU, by a flag', scene: written(image('vllm/vllm-openai', 'command: --model x --device cpu')), status: 'pass' },
  { about: 'an image for the CPU', scene: written(image('ghcr.io/huggingface/text-embeddings-inference:cpu-1.8')), status: 'skipped' },
  { about: 'Ollama on a host with a GPU', scene: written(image('ollama/ollama'), { nvml: nvmlFacts() }), status: 'warn', says: /many times slower/ },
  { about: 'Ollama on a host without one', scene: written(image('ollama/ollama')), status: 'pass' },
  { about: 'a request that is wrong, which another check tells', scene: written(asking('count: 1').replace('my/train', 'vllm/vllm-openai')), status: 'pass' },
  { about: 'other images', scene: written(image('postgres:16')), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
