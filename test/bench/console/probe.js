// Runs in a page before the page's own scripts. It measures when something is painted, and what keeps the page busy.
;(() => {
  const [frames, interactions] = [[], new Map()]
  let clickedMs = 0

  const observe = (type, add, options = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type, buffered: true, ...options })
  observe('long-animation-frame', ({ duration }) => frames.push(duration))
  observe(
    'event',
    ({ interactionId: id, duration }) => id && interactions.set(id, Math.max(interactions.get(id) ?? 0, duration)),
    { durationThreshold: 16 },
  )
  addEventListener('click', ({ timeStamp }) => (clickedMs = timeStamp), true)

  // Lines of charts have colours, their grids and texts do not.
  const isColourful = (data, at) => {
    const [red, green, blue] = [data[at], data[at + 1], data[at + 2]]
    return data[at + 3] > 16 && Math.max(red, green, blue) - Math.min(red, green, blue) > 40
  }

  // The highest and the lowest row of a chart's area that have a colour, as shares of its height.
  const findDrawn = (over) => {
    const canvas = over.parentElement.querySelector('canvas')
    const [inner, outer] = [over.getBoundingClientRect(), canvas.getBoundingClientRect()]
    const scale = canvas.width / outer.width
    const [left, top] = [(inner.left - outer.left) * scale, (inner.top - outer.top) * scale].map(Math.round)
    const [width, height] = [inner.width * scale, inner.height * scale].map(Math.round)
    const { data } = canvas.getContext('2d').getImageData(left, top, width, height)
    const rows = Array.from({ length: height }, (_, row) => row).filter((row) =>
      Array.from({ length: width }, (_, column) => 4 * (row * width + column)).some((at) => isColourful(data, at)),
    )
    return rows.length === 0 ? null : { top: rows[0] / height, bottom: (rows.at(-1) + 1) / height, height }
  }

  const shows = ({ selector, text = '', count = 1, heading }) => {
    if (heading !== undefined && document.querySelector('h1')?.textContent !== heading) return false
    return [...document.querySelectorAll(selector)].filter((each) => each.textContent.includes(text)).length >= count
  }

  const isDrawn = () => {
    const charts = [...document.querySelectorAll('.u-over')]
    return charts.length > 0 && charts.every(findDrawn)
  }

  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const afterPaint = () =>
    new Promise((resolve) => {
      const channel = new MessageChannel()
      channel.port1.addEventListener('message', resolve)
      channel.port1.start()
      channel.port2.postMessage(0)
    })

  // Resolves after the frame that paints it.
  const untilPainted = async (wanted) => {
    do await nextFrame()
    while (!shows(wanted))
    // A chart gets its data in the frame after the one with its legend.
    if (wanted.drawn)
      do await nextFrame()
      while (!isDrawn())
    await afterPaint()
    return performance.now()
  }

  globalThis.probe = {
    painted: undefined,
    expect: (wanted) => void (globalThis.probe.painted = untilPainted(wanted)),
    sinceClick: async () => (await globalThis.probe.painted) - clickedMs,
    readFirstPaint: () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    readMaxFrame: () => Math.max(0, ...frames),
    readInteractions: () => [...interactions.values()],
    readDrawn: () => [...document.querySelectorAll('.u-over')].map(findDrawn),
    forget: () => {
      frames.length = 0
      interactions.clear()
    },
  }
})()
