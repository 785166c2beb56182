{{/*
An API of a plugin that enforces NetworkPolicies unless it is told not to, if the cluster has one. EKS has networking.k8s.aws
also where nobody has made it enforce them.
*/}}
{{- define "trainyard.policyApi" -}}
{{- $found := "" }}
{{- range list "crd.projectcalico.org/v1" "projectcalico.org/v3" "cilium.io/v2" "crd.antrea.io/v1beta1" "k8s.ovn.org/v1" "kubeovn.io/v1" "k3s.cattle.io/v1" }}
{{- if and (not $found) ($.Capabilities.APIVersions.Has .) }}{{ $found = . }}{{ end }}
{{- end }}
{{- $found }}
{{- end }}

{{/*
What NetworkPolicies close, as JSON: connections to pods and from them, only those to pods, or nothing. Without a setting,
those to pods where the cluster has the API of a plugin: no default knows all addresses that pods connect to.
*/}}
{{- define "trainyard.policyTypes" -}}
{{- $enabled := .Values.networkPolicies.enabled }}
{{- if kindIs "bool" $enabled }}
{{- toJson ($enabled | ternary (list "Ingress" "Egress") (list)) }}
{{- else }}
{{- toJson (include "trainyard.policyApi" . | empty | ternary (list) (list "Ingress")) }}
{{- end }}
{{- end }}

{{/* The selector of a control part's pods. Call with (dict "root" $ "component" "apiserver"). */}}
{{- define "trainyard.peer" -}}
podSelector: { matchLabels: {{ include "trainyard.selector" . | fromYaml | toJson }} }
{{- end }}

{{/* Ingress of a container's port from control parts. Call with (dict "root" $ "from" (list "apiserver") "port" "http"). */}}
{{- define "trainyard.fromParts" -}}
- from:
    {{- range .from }}
    - {{ include "trainyard.peer" (dict "root" $.root "component" .) }}
    {{- end }}
  ports: [{ port: {{ .port }} }]
{{- end }}

{{/* Ingress of the ports of metrics. Call with (dict "root" $ "ports" (list "metrics")). */}}
{{- define "trainyard.fromMonitoring" -}}
{{- with .root.Values.metrics.from }}
- from: [{ namespaceSelector: { matchExpressions: [{ key: kubernetes.io/metadata.name, operator: In, values: {{ toJson . }} }] } }]
  ports: [{{ range $index, $port := $.ports }}{{ if $index }}, {{ end }}{ port: {{ $port }} }{{ end }}]
{{- else }}
{{- if kindIs "invalid" .root.Values.networkPolicies.enabled }}
# Nobody has asked for policies. Who reads metrics today goes on.
- ports: [{{ range $index, $port := $.ports }}{{ if $index }}, {{ end }}{ port: {{ $port }} }{{ end }}]
{{- end }}
{{- end }}
{{- end }}

{{/* All addresses but private and link-local ones. */}}
{{- define "trainyard.publicAddresses" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
- ipBlock: { cidr: '::/0', except: ['::1/128', 'fc00::/7', 'fe80::/10'] }
{{- end }}

{{- define "trainyard.toPublicHttps" -}}
- to:
    {{- include "trainyard.publicAddresses" . | nindent 4 }}
  ports: [{ port: 443 }]
{{- end }}

{{/* Egress to the bucket. A volume needs none. */}}
{{- define "trainyard.toStore" -}}
{{- if .Values.artifacts.s3.bucket }}
{{- with .Values.networkPolicies.store }}
{{ toYaml . }}
{{- else }}
{{- if .Values.artifacts.s3.endpoint }}
{{- fail "networkPolicies.store: the bucket's service is not Amazon's (artifacts.s3.endpoint). Give rules that lead to it, for example [{ to: [{ ipBlock: { cidr: 10.0.0.8/32 } }], ports: [{ port: 9000 }] }]." }}
{{- end }}
{{ include "trainyard.toPublicHttps" . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Egress to the hosts of `outbound`: a policy knows no names, so that it leads to all public addresses. */}}
{{- define "trainyard.toOutbound" -}}
{{- with .Values.outbound }}
{{- if or .dataHosts .webhookHosts }}
- to:
    {{- include "trainyard.publicAddresses" . | nindent 4 }}
    {{- range .privateNetworks }}
    - ipBlock: { cidr: {{ quote . }} }
    {{- end }}
{{- end }}
{{- end }}
{{- end }}
