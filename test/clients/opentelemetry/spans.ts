// Sends spans through the OpenTelemetry SDK of Node and its exporter for protobuf over HTTP, to TRACES_URL. The
// exporter itself reads other settings (compression, headers) from the environment.

import { SpanKind, SpanStatusCode, trace, context, type Span } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const exporter = new OTLPTraceExporter({ url: process.env['TRACES_URL']! })
const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'spans', ...JSON.parse(process.env['RESOURCE'] ?? '{}') }),
  spanProcessors: [new BatchSpanProcessor({ exporter })],
})
const tracer = provider.getTracer('test')
const under = (span: Span) => trace.setSpan(context.active(), span)

const root = tracer.startSpan('answer', {
  kind: SpanKind.SERVER,
  attributes: {
    'input.value': '{"question": "why?"}',
    'wandb.display_name': 'Why',
    'wandb.thread_id': 'talk',
    'wandb.is_turn': true,
  },
})
const chat = tracer.startSpan(
  'chat',
  {
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.system': 'trainyard',
      'gen_ai.response.model': 'tide-1',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'why? ☂',
      'gen_ai.completion.0.content': 'because',
      'app.tags': ['a', 'b'],
    },
  },
  under(root),
)
chat.addEvent('first token', { at: 3 })
chat.end()
const broken = tracer.startSpan('tool', {}, under(root))
broken.recordException(new Error('it broke'))
broken.setStatus({ code: SpanStatusCode.ERROR, message: 'it broke' })
broken.end()
root.setAttribute('output.value', 'because')
root.end()
for (let number = 0; number < 700; number += 1) tracer.startSpan('many', { attributes: { number } }).end()

await provider.forceFlush()
await provider.shutdown()
const { traceId, spanId } = root.spanContext()
process.stdout.write(`\n${JSON.stringify({ trace_id: traceId, root: spanId, chat: chat.spanContext().spanId })}\n`)
