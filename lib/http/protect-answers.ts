import type Koa from 'koa'

/** What browsers and caches on the way may do with answers. */
export const protectiveHeaders = {
  // A browser takes an answer for what it says it is, not for what it looks like: users upload what they like.
  'X-Content-Type-Options': 'nosniff',
  // What is opened in a browser may load and run nothing, and stand in nobody's frame.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  // An answer is for the owner of this key, and some answers hold a new key.
  'Cache-Control': 'no-store',
}

/** What browsers and caches on the way may do with answers; handlers that allow more (pages, downloads) say so. */
export const protectAnswers: Koa.Middleware = async (ctx, next) => {
  ctx.set(protectiveHeaders)
  await next()
}
