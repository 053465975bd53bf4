package test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selects reports whether labels contain all labels of a selector that is not empty.
func selects(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// servers returns the template of the servers' pods.
func (m manifests) servers() corev1.PodTemplateSpec {
	if len(m.statefulSets) > 0 {
		return m.statefulSets[0].Spec.Template
	}
	return m.deployments[0].Spec.Template
}

// ports returns the names of the ports of the servers.
func (m manifests) ports() (names []string) {
	for _, p := range m.servers().Spec.Containers[0].Ports {
		names = append(names, p.Name)
	}
	return names
}

// The Service and the workload select the servers and no other pod of the chart, and the Service leads to their ports.
func TestChart_ServiceLeadsToTheServersAlone(t *testing.T) {
	onEachFile(t, func(t *testing.T, _ string, m manifests) {
		service := m.services[0]
		selectors := []map[string]string{service.Spec.Selector}
		for _, d := range m.deployments {
			selectors = append(selectors, d.Spec.Selector.MatchLabels)
		}
		for _, s := range m.statefulSets {
			selectors = append(selectors, s.Spec.Selector.MatchLabels)
		}
		others := []map[string]string{m.pods[0].Labels}
		for _, j := range m.jobs {
			others = append(others, j.Spec.Template.Labels)
		}
		for _, selector := range selectors {
			if !selects(selector, m.servers().Labels) {
				t.Errorf("%v does not select the servers, which have %v", selector, m.servers().Labels)
			}
			for _, labels := range others {
				if selects(selector, labels) {
					t.Errorf("%v selects %v", selector, labels)
				}
			}
		}
		for _, p := range service.Spec.Ports {
			if !slices.Contains(m.ports(), p.TargetPort.String()) {
				t.Errorf("the port %s leads to %s, which the servers lack", p.Name, p.TargetPort.String())
			}
		}
		address := fmt.Sprintf("%s:%d", service.Name, service.Spec.Ports[0].Port)
		if args := m.pods[0].Spec.Containers[0].Args; !slices.Contains(args, address) {
			t.Errorf("helm test asks %q, and the Service is %s", args, address)
		}
	})
}

func TestChart_MonitorReadsTheMetricsOfTheService(t *testing.T) {
	t.Parallel()
	m := renderFile(t, "everything")
	monitor, service := m.serviceMonitors[0], m.services[0]
	if !selects(monitor.Spec.Selector.MatchLabels, service.Labels) {
		t.Errorf("%v does not select the Service, which has %v", monitor.Spec.Selector.MatchLabels, service.Labels)
	}
	if monitor.Metadata.Labels["release"] != "prometheus" || len(monitor.Spec.Endpoints) != 1 {
		t.Errorf("the monitor has the labels %v and the endpoints %v", monitor.Metadata.Labels, monitor.Spec.Endpoints)
	}
	endpoint := monitor.Spec.Endpoints[0]
	if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == endpoint.Port }) ||
		endpoint.Port != "metrics" || endpoint.Path != "/metrics" || endpoint.Interval != "15s" {
		t.Errorf("the monitor reads %+v", endpoint)
	}
}

// The policy admits the peers of the values and the pod of helm test to the API, and the scrapers to the metrics.
func TestChart_PolicyAdmitsPeersAndItsTest(t *testing.T) {
	t.Parallel()
	m := renderFile(t, "everything")
	policy := m.policies[0].Spec
	if !selects(policy.PodSelector.MatchLabels, m.servers().Labels) {
		t.Errorf("%v does not select the servers", policy.PodSelector.MatchLabels)
	}
	if want := []networkingv1.PolicyType{"Ingress", "Egress"}; !slices.Equal(policy.PolicyTypes, want) {
		t.Errorf("the policy is about %v", policy.PolicyTypes)
	}
	peers := map[string][]networkingv1.NetworkPolicyPeer{}
	for _, rule := range policy.Ingress {
		for _, p := range rule.Ports {
			peers[p.Port.String()] = rule.From
			if !slices.Contains(m.ports(), p.Port.String()) {
				t.Errorf("the policy names the port %s, which the servers lack", p.Port.String())
			}
		}
	}
	namespace := func(name string) networkingv1.NetworkPolicyPeer {
		return networkingv1.NetworkPolicyPeer{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": name}},
		}
	}
	if len(peers["http"]) != 2 || !reflect.DeepEqual(peers["http"][0], namespace("chat")) {
		t.Fatalf("the API admits %v", peers["http"])
	}
	if selector := peers["http"][1].PodSelector.MatchLabels; !selects(selector, m.pods[0].Labels) {
		t.Errorf("%v does not select the pod of helm test, which has %v", selector, m.pods[0].Labels)
	}
	if want := []networkingv1.NetworkPolicyPeer{namespace("monitoring")}; !reflect.DeepEqual(peers["metrics"], want) {
		t.Errorf("the metrics admit %v", peers["metrics"])
	}
	if len(policy.Egress) != 1 || policy.Egress[0].To[0].IPBlock.CIDR != "10.0.0.0/8" {
		t.Errorf("the policy allows %v", policy.Egress)
	}

	// Without peers, everybody is admitted.
	values := valuesOf(t, "everything")
	values["networkPolicy"] = map[string]any{"enabled": true}
	for _, rule := range renderValues(t, values).policies[0].Spec.Ingress {
		if rule.From != nil {
			t.Errorf("without peers in the values, the policy admits only %v", rule.From)
		}
	}
}

func TestChart_ScalesTheDeploymentAndKeepsItAvailable(t *testing.T) {
	t.Parallel()
	m := renderFile(t, "everything")
	deployment, scaler, budget := m.deployments[0], m.autoscalers[0].Spec, m.budgets[0].Spec
	to := scaler.ScaleTargetRef
	if to.APIVersion != "apps/v1" || to.Kind != "Deployment" || to.Name != deployment.Name || *scaler.MinReplicas != 3 ||
		scaler.MaxReplicas != 30 || *scaler.Metrics[0].Resource.Target.AverageUtilization != 60 {
		t.Errorf("the autoscaler is %+v", scaler)
	}
	if deployment.Spec.Replicas != nil {
		t.Error("the Deployment states replicas, which the autoscaler changes")
	}
	if !selects(budget.Selector.MatchLabels, m.servers().Labels) || budget.MaxUnavailable.String() != "25%" {
		t.Errorf("the budget is %+v", budget)
	}
}

// The Ingress leads to the API, and not to the port of the metrics.
func TestChart_IngressLeadsToTheAPI(t *testing.T) {
	t.Parallel()
	m := renderFile(t, "everything")
	paths := map[string]string{}
	for _, rule := range m.ingresses[0].Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			paths[rule.Host] = path.Path
			to := path.Backend.Service
			if to.Name != m.services[0].Name || to.Port.Name != "http" || *path.PathType != networkingv1.PathTypePrefix {
				t.Errorf("%s%s leads to %+v", rule.Host, path.Path, to)
			}
		}
	}
	if want := map[string]string{"memory.example.com": "/", "other.example.com": "/memory"}; !maps.Equal(paths, want) {
		t.Errorf("the Ingress has %v", paths)
	}
	if port := m.services[0].Spec.Ports[0]; port.Name != "http" || port.Port != 8443 {
		t.Errorf("the first port of the Service is %+v", port)
	}
}
