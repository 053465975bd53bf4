// Package test renders the chart with Helm's engine and decodes the result strictly with the types of Kubernetes.
package test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// serviceMonitor is the part of the Prometheus operator's type that the chart uses.
type serviceMonitor struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   monitorMeta       `json:"metadata"`
	Spec       serviceMonitoring `json:"spec"`
}

type monitorMeta struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

type serviceMonitoring struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Endpoints []struct {
		Port     string `json:"port"`
		Path     string `json:"path"`
		Interval string `json:"interval"`
	} `json:"endpoints"`
}

// manifests are the objects of a release by their types.
type manifests struct {
	deployments     []appsv1.Deployment
	statefulSets    []appsv1.StatefulSet
	jobs            []batchv1.Job
	pods            []corev1.Pod
	services        []corev1.Service
	configMaps      []corev1.ConfigMap
	secrets         []corev1.Secret
	accounts        []corev1.ServiceAccount
	ingresses       []networkingv1.Ingress
	policies        []networkingv1.NetworkPolicy
	autoscalers     []autoscalingv2.HorizontalPodAutoscaler
	budgets         []policyv1.PodDisruptionBudget
	serviceMonitors []serviceMonitor
}

// valuesOf reads testdata/NAME.yaml; the default values are "default".
func valuesOf(t *testing.T, name string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if name == "default" {
		return values
	}
	text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// render returns the text of each template, as helm template does.
func render(values map[string]any) (map[string]string, error) {
	chart, err := loader.Load("../hippocampus")
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "memory", Namespace: "chat", Revision: 1, IsInstall: true}
	// ToRenderValues checks the values with values.schema.json.
	all, err := chartutil.ToRenderValues(chart, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, all)
}

// renderFile renders the values testdata/NAME.yaml and decodes the result.
func renderFile(t *testing.T, name string) manifests {
	t.Helper()
	return renderValues(t, valuesOf(t, name))
}

func renderValues(t *testing.T, values map[string]any) manifests {
	t.Helper()
	rendered, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	var all manifests
	for path, text := range rendered {
		if filepath.Ext(path) != ".yaml" {
			continue
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			if err := all.decode(document); err != nil {
				t.Errorf("%s: %v:\n%s", path, err, document)
			}
		}
	}
	return all
}

func (m *manifests) decode(document string) error {
	var head struct{ Kind string }
	if err := yaml.Unmarshal([]byte(document), &head); err != nil {
		return err
	}
	switch head.Kind {
	case "":
		if strings.TrimSpace(document) != "" {
			return errors.New("the document has no kind")
		}
		return nil
	case "Deployment":
		return decodeInto(&m.deployments, document)
	case "StatefulSet":
		return decodeInto(&m.statefulSets, document)
	case "Job":
		return decodeInto(&m.jobs, document)
	case "Pod":
		return decodeInto(&m.pods, document)
	case "Service":
		return decodeInto(&m.services, document)
	case "ConfigMap":
		return decodeInto(&m.configMaps, document)
	case "Secret":
		return decodeInto(&m.secrets, document)
	case "ServiceAccount":
		return decodeInto(&m.accounts, document)
	case "Ingress":
		return decodeInto(&m.ingresses, document)
	case "NetworkPolicy":
		return decodeInto(&m.policies, document)
	case "HorizontalPodAutoscaler":
		return decodeInto(&m.autoscalers, document)
	case "PodDisruptionBudget":
		return decodeInto(&m.budgets, document)
	case "ServiceMonitor":
		return decodeInto(&m.serviceMonitors, document)
	}
	return fmt.Errorf("the kind %s is unknown", head.Kind)
}

// decodeInto refuses fields that the type lacks, and fields that occur twice.
func decodeInto[T any](list *[]T, document string) error {
	var object T
	if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
		return err
	}
	*list = append(*list, object)
	return nil
}

// templates returns the templates of all pods of servers and of the migration.
func (m manifests) templates() []corev1.PodSpec {
	var specs []corev1.PodSpec
	for _, d := range m.deployments {
		specs = append(specs, d.Spec.Template.Spec)
	}
	for _, s := range m.statefulSets {
		specs = append(specs, s.Spec.Template.Spec)
	}
	for _, j := range m.jobs {
		specs = append(specs, j.Spec.Template.Spec)
	}
	return specs
}

// counts returns the number of objects of each kind, such as "1 Deployment".
func (m manifests) counts() []string {
	var counts []string
	for kind, n := range map[string]int{
		"Deployment": len(m.deployments), "StatefulSet": len(m.statefulSets), "Job": len(m.jobs), "Pod": len(m.pods),
		"Service": len(m.services), "ConfigMap": len(m.configMaps), "Secret": len(m.secrets),
		"ServiceAccount": len(m.accounts), "Ingress": len(m.ingresses), "NetworkPolicy": len(m.policies),
		"HorizontalPodAutoscaler": len(m.autoscalers), "PodDisruptionBudget": len(m.budgets),
		"ServiceMonitor": len(m.serviceMonitors),
	} {
		if n > 0 {
			counts = append(counts, fmt.Sprint(n, " ", kind))
		}
	}
	slices.Sort(counts)
	return counts
}
