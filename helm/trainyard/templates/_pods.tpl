{{/*
The settings of a control part's pods, as JSON: those of controlPods, with its own over them.
Call with (dict "root" $ "values" .Values.apiserver).
*/}}
{{- define "trainyard.podSettings" -}}
{{- $pods := deepCopy .root.Values.controlPods -}}
{{- range $name, $value := .values.pods | default dict -}}
{{- if kindIs "map" $value -}}
{{- $value = merge (deepCopy $value) (index $pods $name) -}}
{{- end -}}
{{- $_ := set $pods $name $value -}}
{{- end -}}
{{ toJson $pods }}
{{- end }}

{{/* Labels and annotations of a control part's pods. Ours stay. Call with (dict "root" $ "component" "apiserver" "values" ...). */}}
{{- define "trainyard.podMetadata" -}}
{{- $pods := include "trainyard.podSettings" . | fromJson -}}
labels: {{ merge (include "trainyard.labels" . | fromYaml) ($pods.labels | default dict) | toJson }}
annotations: {{ merge (include "trainyard.podAnnotations" .root | fromYaml) ($pods.annotations | default dict) | toJson }}
{{- end }}

{{/* Where a control part's pods may run. Call with (dict "root" $ "component" "apiserver" "values" ...). */}}
{{- define "trainyard.placement" -}}
{{- $pods := include "trainyard.podSettings" . | fromJson }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" }}
{{- with index $pods $field }}
{{ $field }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- with $pods.topologySpreadConstraints }}
{{- $ours := dict "labelSelector" (dict "matchLabels" (include "trainyard.selector" $ | fromYaml)) "matchLabelKeys" (list "pod-template-hash") }}
topologySpreadConstraints:
  {{- range . }}
  - {{ ternary . (merge (deepCopy .) $ours) (hasKey . "labelSelector") | toJson }}
  {{- end }}
{{- end }}
{{- end }}

{{/* More environment variables of a control part. Call with (dict "root" $ "values" .Values.apiserver). */}}
{{- define "trainyard.moreEnv" -}}
{{- range (include "trainyard.podSettings" . | fromJson).env }}
- {{ toJson . }}
{{- end }}
{{- end }}

{{/* A new pod is Ready before an old one ends, so that a release that cannot start replaces no pod that works. */}}
{{- define "trainyard.rollout" -}}
strategy:
  rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
{{- end }}

{{/* How long a part that ends still takes requests, until its clients have learned of it. Call with seconds. */}}
{{- define "trainyard.preStop" -}}
{{- with . }}
lifecycle: { preStop: { sleep: { seconds: {{ . }} } } }
{{- end }}
{{- end }}
