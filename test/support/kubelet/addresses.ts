/** The addresses of the node and of its cluster. They are in a network namespace of the tests, and reach nothing else. */
export const nodeAddress = '10.200.0.1'
export const serviceRange = '10.201.0.0/16'
/** Of the Service `kubernetes`. */
export const serviceAddress = '10.201.0.1'
export const podRange = '10.202.0.0/24'
export const nodeName = 'local'
export const ports = { kubernetes: 6443, kubelet: 10250, kubeletHealth: 10248, proxyHealth: 10256, dns: 53 }
