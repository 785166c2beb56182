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
  integration: [
    'test/clients/agents.test.ts',
    'test/clients/art.test.ts',
    'test/clients/openai-endpoints.test.ts',
    'test/clients/openai-python.test.ts',
    'test/clients/openai.test.ts',
    'test/clients/weave-completions.test.ts',
    'test/integration/console-snippets.test.ts',
  ],
  control: [
    'test/clients/tracing/opentelemetry.test.ts',
    'test/clients/tracing/weave-calls.test.ts',
    'test/clients/tracing/weave-feedback.test.ts',
    'test/clients/tracing/weave-npm.test.ts',
    'test/clients/tracing/weave-objects.test.ts',
    'test/clients/tracing/weave-oldest.test.ts',
    'test/control/openai-error-classes.test.ts',
    'test/control/wandb-artifacts-sdk.test.ts',
    'test/control/wandb-runs-sdk.test.ts',
  ],
}
