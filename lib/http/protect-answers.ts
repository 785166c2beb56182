import type Koa from 'koa'

/** What browsers and caches may do with answers. */
const protectiveHeaders = {
  // Browsers must not guess the content type: users upload any content.
  'X-Content-Type-Options': 'nosniff',
  // A page must load and run nothing, and no other page may frame it.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  // An answer is only for the owner of its key, and some answers contain a new key.
  'Cache-Control': 'no-store',
}

/** Restricts what browsers and caches may do with answers. Handlers that allow more (pages, downloads) override it. */
export const protectAnswers: Koa.Middleware = async (ctx, next) => {
  ctx.set(protectiveHeaders)
  await next()
}
