import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The reference page: its HTML, and the files that it loads by name. */
export interface Page {
  html: string
  files: Map<string, { type: string; bytes: Buffer }>
}

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Trainyard API</title>
<link rel="stylesheet" href="./docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="./docs/swagger-ui-bundle.js"></script>
<script src="./docs/start.js"></script>
</body>
</html>
`

// The page at /traces/docs shows the document next to it.
const start = `SwaggerUIBundle({
  url: location.pathname.replace(/docs\\/?$/, 'openapi.json'),
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
})
`

/** Reads the page's files from the Swagger UI package, once. */
export function readPage(): Page {
  const folder = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const read = (name: string) => readFileSync(path.join(folder, name))
  return {
    html,
    files: new Map([
      ['swagger-ui.css', { type: 'text/css', bytes: read('swagger-ui.css') }],
      ['swagger-ui-bundle.js', { type: 'text/javascript', bytes: read('swagger-ui-bundle.js') }],
      ['start.js', { type: 'text/javascript', bytes: Buffer.from(start) }],
    ]),
  }
}
