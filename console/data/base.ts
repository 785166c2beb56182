// A proxy may serve the console below a path and remove the path: then only the addresses of its own files tell it.
const own = new URL(import.meta.url)

/** The path that the console is below, without a slash at its end: empty at the root of its host. */
export const basePath = own.pathname.replace(/\/assets\/[^/]*$/, '')

/** The address of the server for clients. */
export const baseUrl = own.origin + basePath
