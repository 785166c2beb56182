import { memoryPlan } from './accounts/limits/memory-plan.ts'

/** How long the server waits for its clients, and how many may be connected. */
export const serverSettings = {
  // Longer than clients keep an idle connection, so that a POST never meets one that is being closed: they don't retry it.
  keepAliveTimeout: 90_000,
  // An upload of the largest body over a slow line.
  requestTimeout: 1_800_000,
  // The lines of a request before its body come at once; a client that sends them slowly only holds a connection.
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  maxConnections: memoryPlan.connections.most,
}
