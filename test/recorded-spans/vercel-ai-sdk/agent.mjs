// A tool loop and a stream of the Vercel AI SDK, in a session.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] })
provider.register()

const engine = createOpenAICompatible({
  name: 'local',
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: 'any',
  includeUsage: true,
})
const model = engine(process.env.MODEL)
const tools = {
  get_weather: tool({
    description: 'Tells the weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `7 degrees in ${city}`,
  }),
}
const experimental_telemetry = { isEnabled: true, functionId: 'forecast', metadata: { sessionId: 'session-1' } }

await generateText({
  model,
  tools,
  stopWhen: stepCountIs(3),
  system: 'Be brief.',
  prompt: 'How warm is it in Oslo?',
  experimental_telemetry,
})
await streamText({ model, prompt: 'And now?', experimental_telemetry }).consumeStream()
await provider.shutdown()
