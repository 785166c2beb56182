{{/*
The keys of the secrets of webhooks, as JSON. A new key is kept among the values for the rest of this rendering. Without a Secret
of before, it follows from an engine key that is given: a chart that is rendered without a cluster must not make another key each
time, because no secret that was encrypted with the one before could be decrypted.
*/}}
{{- define "trainyard.webhookKeys" -}}
{{- $given := .given -}}
{{- $before := index .kept "webhook-key" | default "" | b64dec -}}
{{- $derived := dict -}}
{{- range $name := list "engineKey" "previousEngineKey" -}}
{{- $key := index $given $name | default "none" -}}
{{- $_ := set $derived $name (ternary "" (printf "webhooks %s" $key | sha256sum) (eq $key "none")) -}}
{{- end -}}
{{- if not $given.webhookKey -}}
{{- $_ := set $given "webhookKey" ($before | default $derived.engineKey | default (randAlphaNum 48)) -}}
{{- end -}}
{{- $previous := $given.previousWebhookKey -}}
{{- if and (not $previous) (not $before) -}}
{{- $previous = $derived.previousEngineKey -}}
{{- else if not $previous -}}
{{- $previous = ternary (index .kept "previous-webhook-key" | default "" | b64dec) $before (eq $before $given.webhookKey) -}}
{{- end -}}
{{- $keys := dict "webhook-key" $given.webhookKey -}}
{{- if and $previous (ne $previous "none") -}}
{{- $_ := set $keys "previous-webhook-key" $previous -}}
{{- end -}}
{{ toJson $keys }}
{{- end }}

{{/* The volume with the keys. Kubernetes updates its files when the Secret changes. */}}
{{- define "trainyard.keyVolume" -}}
{{- $optional := list -}}
{{- range list "previous-engine-key" "webhook-key" "previous-webhook-key" -}}
{{- $optional = append $optional (dict "key" . "path" .) -}}
{{- end -}}
{{- $sources := list
  (dict "secret" (dict "name" "trainyard-secrets" "items" (list (dict "key" "engine-key" "path" "engine-key"))))
  (dict "secret" (dict "name" "trainyard-secrets" "optional" true "items" $optional)) -}}
{{ dict "name" "keys" "projected" (dict "sources" $sources) | toJson }}
{{- end }}

{{- define "trainyard.keyMount" -}}
{{ dict "name" "keys" "mountPath" "/etc/trainyard/keys" "readOnly" true | toJson }}
{{- end }}

{{- define "trainyard.keyEnv" -}}
- name: TRAINYARD_KEY_FOLDER
  value: /etc/trainyard/keys
{{- end }}
