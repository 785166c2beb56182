import { rm } from 'node:fs/promises'
import type { Spooled } from '../../../artifacts/store/spool.ts'
import { invalidForm, readForm, type FormRules } from '../../../lib/http/multipart.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { maxFiles } from './schema.ts'
import { spoolUpload, uploadTooLarge, type SpoolDeps } from './store-files.ts'

interface FormFile {
  path: string
  spooled: Spooled
}

/** A form: its files, spooled, and the text of its field `metadata`. */
export interface VersionForm {
  files: FormFile[]
  metadata: string | undefined
}

const limits = { files: maxFiles, fields: 100, parts: maxFiles + 100, fieldSize: 256 * 1024, headerPairs: 100 }

/**
 * Reads the form of an upload. Each file becomes a local file.
 *
 * @throws {HttpError} then no file is left behind
 */
export async function readMultipart(
  deps: SpoolDeps,
  ctx: RequestContext,
  incoming: IncomingBytes,
): Promise<VersionForm> {
  const { files, texts } = await readForm(ctx.headers, readChunks(deps, ctx, incoming), rulesOf(deps))
  if (files.length === 0) throw invalidForm('the form has no file')
  return { files, metadata: texts.get('metadata') }
}

function rulesOf(deps: SpoolDeps): FormRules<FormFile> {
  return {
    limits,
    textFields: ['metadata'],
    preservePath: true,
    reasons: {
      fieldTooLong: (field) => `the field ${JSON.stringify(field.slice(0, 100))} is too long`,
      tooManyParts: `it has more than ${maxFiles} files, or too many fields`,
    },
    store: async (path, bytes) => {
      const spooled = await spoolUpload(deps, bytes, { maxBytes: deps.uploadLimitBytes })
      if (!spooled.broken) return { path, spooled }
      await rm(spooled.file, { force: true })
      throw spooled.broken
    },
    remove: ({ spooled }) => rm(spooled.file, { force: true }),
  }
}

async function* readChunks(deps: SpoolDeps, ctx: RequestContext, incoming: IncomingBytes): AsyncIterable<Uint8Array> {
  let size = 0
  for await (const chunk of ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > deps.uploadLimitBytes) throw uploadTooLarge(deps.uploadLimitBytes)
    incoming.add(chunk.length)
    yield chunk
  }
}
