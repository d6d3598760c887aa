// Which family a process, its image or its port belongs to, and that no family asks what harms.
import { describe, expect, test } from 'vitest'
import { llamaCpp } from '../../../agent/servers/families/index.ts'
import { FAMILIES, isHelper, recognise } from '../../../agent/servers/recognise.ts'

describe('recognising', () => {
  const by = (command: string, port = 1, image?: string): string | undefined =>
    recognise({ argv: command.split(' '), ...(image === undefined ? {} : { image }) }, port)?.family.id
  test.each([
    ['/usr/bin/python3 /usr/local/bin/vllm serve org/model --port 9000', 'vllm'],
    ['python3 -m vllm.entrypoints.openai.api_server --model m', 'vllm'],
    ['VLLM::APIServer_0   ', 'vllm'],
    ['python3 -m sglang.launch_server --model-path m', 'sglang'],
    ['text-generation-router --port 80', 'tgi'],
    ['text-embeddings-router --model-id m', 'tei'],
    ['/opt/venv/bin/python /opt/venv/bin/infinity_emb v2 --model-id m', 'infinity'],
    ['/app/llama-server -m /models/x.gguf', 'llama.cpp'],
    ['/server -m /models/x.gguf -c 4096', 'llama.cpp'],
    ['ACME::APIServer_1', 'vllm'],
    ['text-generation-router-llamacpp --model-gguf x.gguf', 'tgi'],
    ['text-generation-backends-trtllm --model-id m', 'tgi'],
    ['/home/lab/.lmstudio/bin/llmworker', 'lm-studio'],
    ['/usr/local/bin/ollama serve', 'ollama'],
    ['/usr/bin/python3 /usr/local/bin/lmdeploy serve api_server m', 'lmdeploy'],
    ['tritonserver --model-repository=/m', 'triton'],
    ['/usr/bin/python3 /usr/local/bin/trtllm-serve m', 'trtllm-serve'],
    ['python main.py --listen 0.0.0.0', 'comfyui'],
    ['python3 launch.py --api', 'webui'],
    ['/usr/bin/python3 /usr/local/bin/xinference-local -H 0.0.0.0', 'xinference'],
    ['/usr/bin/local-ai run --address :8080', 'localai'],
    ['python3 /opt/koboldcpp.py --model chat.gguf', 'koboldcpp'],
    ['/opt/koboldcpp-linux-x64 chat.kcpps', 'koboldcpp'],
    ['/app/.venv/bin/python /app/.venv/bin/uvicorn --factory speaches.main:create_app', 'speaches'],
    ['uvicorn --factory faster_whisper_server.main:create_app', 'speaches'],
    ['/app/build/bin/whisper-server -m /models/ggml-large.bin', 'whisper.cpp'],
  ])('%s', (command, family) => expect(by(command)).toBe(family))
  test.each([
    'VLLM::EngineCore',
    'ACME::EngineCore_DP0',
    'VLLM::Worker_TP0',
    'sglang::scheduler_TP0',
    '/usr/bin/ollama runner --model x --port 5',
    '/usr/lib/ollama/llama-server --model x --port 5',
    '/backends/cuda12-llama-cpp/llama-cpp-avx2 --addr 127.0.0.1:41235',
  ])('%s answers for nobody', (command) => {
    expect(isHelper(command.split(' '))).toBe(true)
    expect(by(command, 8_080)).toBeUndefined()
  })
  test("by the image, by a port that is one family's own, and not by a port of many", () => {
    expect(by('python3 /start.py', 1, 'docker.io/vllm/vllm-openai:v0.11.0')).toBe('vllm')
    expect(by('python3 /start.py', 1, 'nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3')).toBe('nim')
    expect(by('/opt/mystery', 11_434)).toBe('ollama')
    expect(by('python3 train.py', 8_000)).toBeUndefined()
    expect(by('python3 /app/server.py --model x.gguf', 8_000)).toBeUndefined()
    expect(by('python3 train.py', 29_500)).toBeUndefined()
  })
  test('no family asks what harms: nothing that generates, drains, wakes or holds secrets', () => {
    const asked = FAMILIES.flatMap(({ id, proof, pages }) => [proof.path, ...pages.map(({ path }) => path)].map((path) => `${id} ${path}`))
    expect(asked).not.toContain('trtllm-serve /metrics')
    expect(asked).not.toContain('sglang /health')
    expect(asked.filter((path) => /server_info|get_load|get_model_info|reload|shutdown|generate/.test(path))).toEqual([])
    // Asleep it would be loaded: only behind /props, which comes first.
    expect(llamaCpp.pages[0]?.path).toBe('/props')
  })
})
