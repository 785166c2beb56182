import { HttpError } from '../../../../lib/http/http-error.ts'
import type { ThreadFunction } from '../../../../lib/worker-threads/program.ts'
import type { AdapterConfig } from './config.ts'
import { readAdapterHeader, readLayers, requireKnownLayers, type Tensor } from './header.ts'

/** The headers of an adapter and of the one that training starts from for the same base model. */
export interface HeaderTask {
  header: string
  config: AdapterConfig
  dataBytes: number
  known: string | undefined
}

export type HeaderOutcome = { detail: HttpError['detail'] } | { tensors: Tensor[] }

/** Checks headers. Large ones take too long for the event loop. */
export function checkHeader({ header, config, dataBytes, known }: HeaderTask): HeaderOutcome {
  try {
    const { layers, tensors } = readAdapterHeader(header, config, dataBytes)
    if (known !== undefined) requireKnownLayers(layers, readLayers(known))
    return { tensors }
  } catch (error) {
    if (error instanceof HttpError) return { detail: error.detail }
    throw error
  }
}

export default { run: checkHeader } satisfies ThreadFunction<HeaderTask, HeaderOutcome>
