import type { ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import { registerCounter, registerDurations, registerGauge, type Sample } from './computed.ts'
import { Durations } from './durations.ts'
import { serverMetrics } from './table.ts'

// The client left before the answer began. nginx logs the same number.
const clientLeft = 499

/** The labels of a route. Their values come from our code, never from a request. */
export interface RouteLabels {
  /** The group of operations. */
  group: string
  method: string
  /** The template of its path. */
  route: string
}

/** The requests of one route, as plain numbers. A chat takes no longer because it is counted. */
export class RouteMeter {
  readonly labels: Readonly<Record<keyof RouteLabels, string>>
  readonly durations = new Durations()
  /** How many answers had each status. */
  readonly answers = new Map<number, number>()

  constructor(labels: RouteLabels) {
    this.labels = { ...labels }
  }

  /** Counts an answer that is complete or whose client has left. @param startMs by `performance.now()` */
  recordAnswer({ headersSent, statusCode }: Pick<ServerResponse, 'headersSent' | 'statusCode'>, startMs: number): void {
    const status = headersSent ? statusCode : clientLeft
    this.durations.record((performance.now() - startMs) / 1000)
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1)
  }
}

/** The number of requests of a group that are being answered. */
export interface InFlight {
  count: number
}

/** Counts the requests of a server. Metrics read the counts when they are scraped. */
export class HttpMeter {
  readonly #routes = new Map<string, RouteMeter>()
  readonly #inFlight = new Map<string, InFlight>()

  /** The counts of a route. The caller bounds the number of routes. */
  routeOf(labels: RouteLabels): RouteMeter {
    const key = `${labels.group} ${labels.method} ${labels.route}`
    const known = this.#routes.get(key) ?? new RouteMeter(labels)
    this.#routes.set(key, known)
    return known
  }

  inFlightOf(group: string): InFlight {
    const known = this.#inFlight.get(group) ?? { count: 0 }
    this.#inFlight.set(group, known)
    return known
  }

  register(registry: Registry): void {
    const { counters, gauges, histograms } = serverMetrics
    const routes = this.#routes
    const inFlight = this.#inFlight
    registerDurations(registry, histograms.durations, () => routes.values())
    registerCounter(registry, counters.requests, () => [...routes.values()].flatMap(listAnswers))
    registerGauge(registry, gauges.inFlight, () =>
      [...inFlight].map(([group, { count }]) => ({ labels: { group }, value: count })),
    )
  }
}

function listAnswers({ labels, answers }: RouteMeter): Sample[] {
  return [...answers].map(([status, value]) => ({ labels: { ...labels, status }, value }))
}
