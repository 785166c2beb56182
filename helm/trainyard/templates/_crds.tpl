{{/*
Metadata of a CRD. A cluster has each CRD once. Call with (dict "root" $ "name" "models.trainyard.dev"). It fails if the CRD is
another release's, which Helm would say in words about annotations.
*/}}
{{- define "trainyard.definitionMetadata" -}}
{{- $release := .root.Release -}}
{{- $present := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" .name | default dict -}}
{{- $owner := dig "metadata" "annotations" "meta.helm.sh/release-name" "" $present -}}
{{- $home := dig "metadata" "annotations" "meta.helm.sh/release-namespace" "" $present -}}
{{- if and $owner (ne (print $home "/" $owner) (print $release.Namespace "/" $release.Name)) -}}
{{- fail (printf "The custom resource definition %s belongs to the release %s in the namespace %s. Set crds.enabled=false here: both releases then use it. If that release is gone, let this one take it over: `kubectl annotate --overwrite crd -l app.kubernetes.io/name=trainyard meta.helm.sh/release-name=%s meta.helm.sh/release-namespace=%s`." .name $owner $home $release.Name $release.Namespace) -}}
{{- end -}}
name: {{ .name }}
labels: {{- include "trainyard.labels" (dict "root" .root "component" "crds") | nindent 2 }}
{{- if .root.Values.crds.keep }}
annotations:
  # Without the CRD, all Models and TrainingJobs would be deleted.
  helm.sh/resource-policy: keep
{{- end }}
{{- end }}
