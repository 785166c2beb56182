import path from 'node:path'
import type Koa from 'koa'
import { HttpError } from '../../lib/http/http-error.ts'
import { httpErrors } from '../../lib/http/errors.ts'
import { rebaseLinks } from '../../lib/http/rebase-links.ts'
import { isConsolePage } from '../accounts/names.ts'
import { ConsoleFiles, type BuiltConsole, type BuiltFile, type Encoding } from './files.ts'

/** The console: its page, for all addresses of pages, and the files that the page loads. */
export interface Console {
  serve: Koa.Middleware
}

// It shows texts of models and strangers. So it runs only its own scripts, and makes no HTML from texts.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const assetPrefix = '/assets/'
const builtFolder = path.join(path.dirname(path.dirname(import.meta.dirname)), 'console', 'dist')

const missingPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Trainyard</title></head>
<body>
<p>This server has no built console. Build it with <code>npm run build:console</code>, or start the stack with <code>npm run up</code>.</p>
<p><a href="./docs">The reference of the API</a> is here.</p>
</body>
</html>
`

/** Opens the console in a folder; without one, in the repository's. */
export function openConsole(folder = builtFolder): Console {
  const files = new ConsoleFiles(folder)
  return {
    serve: async (ctx, next) => {
      const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
      if (isRead && ctx.path.startsWith(assetPrefix)) sendAsset(ctx, await files.read())
      else if (isRead && isPage(ctx)) sendPage(ctx, await files.read())
      else await next()
    },
  }
}

/** Programs do not ask for HTML: what they get wrong stays an error in JSON. */
function isPage(ctx: Koa.Context): boolean {
  return /(^|,)\s*text\/html\s*([;,]|$)/i.test(ctx.get('Accept')) && isConsolePage(ctx.path.split('/')[1] ?? '')
}

function sendPage(ctx: Koa.Context, built: BuiltConsole | undefined): void {
  ctx.set({
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-cache',
    // The same addresses answer programs in JSON.
    Vary: 'Accept',
  })
  ctx.type = 'text/html; charset=utf-8'
  if (built) ctx.set('ETag', built.etag)
  ctx.status = built ? 200 : 404
  if (built && ctx.get('If-None-Match') === built.etag) ctx.status = 304
  else ctx.body = rebaseLinks(built?.page ?? missingPage, ctx.path)
}

function sendAsset(ctx: Koa.Context, built: BuiltConsole | undefined): void {
  const file = built?.assets.get(ctx.path.slice(assetPrefix.length))
  // A page of another version may ask for a file that is gone. This answer must not be kept.
  if (!file) throw new HttpError(httpErrors.unknown_path)
  const { encoding, bytes } = chooseCopy(ctx, file)
  ctx.set({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' })
  ctx.type = file.type
  if (encoding) ctx.set('Content-Encoding', encoding)
  ctx.body = bytes
}

function chooseCopy(ctx: Koa.Context, { bytes, compressed }: BuiltFile): { encoding?: Encoding; bytes: Buffer } {
  for (const [encoding, copy] of compressed) {
    if (ctx.acceptsEncodings(encoding) === encoding) return { encoding, bytes: copy }
  }
  return { bytes }
}
