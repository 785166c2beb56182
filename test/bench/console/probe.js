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

  const hasLines = (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return Array.from({ length: data.length / 4 }, (_, pixel) => 4 * pixel).some((at) => isColourful(data, at))
  }

  const shows = ({ selector, text = '', count = 1, heading }) => {
    if (heading !== undefined && document.querySelector('h1')?.textContent !== heading) return false
    return [...document.querySelectorAll(selector)].filter((each) => each.textContent.includes(text)).length >= count
  }

  const isDrawn = () => {
    const charts = [...document.querySelectorAll('.u-wrap canvas')]
    return charts.length > 0 && charts.every(hasLines)
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
    readFirstPaint: async () => {
      for (;;) {
        const [paint] = performance.getEntriesByName('first-contentful-paint')
        if (paint) return paint.startTime
        await nextFrame()
      }
    },
    readMaxFrame: () => Math.max(0, ...frames),
    readInteractions: () => [...interactions.values()],
    forget: () => {
      frames.length = 0
      interactions.clear()
    },
  }
})()
