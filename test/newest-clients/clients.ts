/** A client library whose newest release is tried, and the tests that use it. */
export interface Client {
  name: string
  registry: 'PyPI' | 'npm'
  /** For PyPI, the folder of test/clients whose environment has it. */
  folder?: string
  /** Found in `FILE: TEST` of its tests. */
  tests: RegExp
}

const python = (folder: string, name: string, tests: RegExp): Client => ({ name, registry: 'PyPI', folder, tests })
const node = (name: string, tests: RegExp): Client => ({ name, registry: 'npm', tests })

export const clients: readonly Client[] = [
  python('art', 'openpipe-art', /clients\/art\.test\.ts: (?!.*(oldest|pins))|console-snippets.*program of ART/),
  python('weave-python', 'weave', /tracing\/weave-(?!npm)|weave-completions|program of weave/),
  node('weave', /tracing\/weave-npm/),
  python('wandb', 'wandb', /control\/wandb-.*: wandb (?!0\.25)/),
  python('openai-python', 'openai', /openai-python\.test|SDK of Python reads|Python SDK raises|program of openai/),
  node('openai', /clients\/openai\.test|npm SDK raises|openai SDK of npm/),
  python('agents-openai-2', 'litellm', /agents\.test.*LiteLLM/),
  python('agents-openai-2', 'instructor', /agents\.test.*Instructor/),
  python('agents-openai-2', 'strands-agents', /agents\.test.*Strands/),
  python('agents', 'langchain-openai', /agents\.test.*LangChain/),
  python('agents', 'pydantic-ai-slim', /agents\.test.*pydantic-ai/),
  python('agents', 'openai-agents', /agents\.test.*openai-agents/),
  python('weave-python', 'opentelemetry-exporter-otlp-proto-http', /tracing\/opentelemetry.*Python/),
  node('@opentelemetry/exporter-trace-otlp-proto', /tracing\/opentelemetry.*Node/),
]

/** What the clients of npm need beside them. */
export const npmCompanions = ['@opentelemetry/api', '@opentelemetry/resources', '@opentelemetry/sdk-trace']

/** The test files, by their vitest project. Each is run whole. */
export const testFiles: Record<string, readonly string[]> = {
  engine: [
    'test/clients/agents.nightly.test.ts',
    'test/clients/art.test.ts',
    'test/clients/openai-endpoints.test.ts',
    'test/clients/openai-python.test.ts',
    'test/clients/openai.test.ts',
    'test/clients/weave-completions.test.ts',
    'test/engine/console-snippets.test.ts',
  ],
  api: [
    'test/api/opentelemetry.test.ts',
    'test/api/weave-calls.test.ts',
    'test/api/weave-feedback.test.ts',
    'test/api/weave-objects.test.ts',
    'test/api/weave-oldest.nightly.test.ts',
    'test/api/wandb-artifacts-sdk.test.ts',
    'test/api/wandb-runs-sdk.test.ts',
  ],
  cluster: ['test/cluster/openai-error-classes.test.ts', 'test/cluster/weave-npm.test.ts'],
}
