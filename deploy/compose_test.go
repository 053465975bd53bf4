// Package deploy tests the files that install the server.
package deploy

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hippocampus/server/config"
)

// service is the part of a compose service that these tests read.
type service struct {
	Image       string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck struct {
		Test              []string
		Interval, Timeout string
		Retries           int
		StartPeriod       string `yaml:"start_period"`
	}
	Build struct{ Context, Dockerfile string }
}

type composition struct {
	Services map[string]service
	Volumes  map[string]any
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func compose(t *testing.T) composition {
	t.Helper()
	var c composition
	if err := yaml.Unmarshal([]byte(text(t, "compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompose_PinsAndHealthChecksEveryService(t *testing.T) {
	t.Parallel()
	services := compose(t).Services
	want := []string{"etcd", "hippocampus", "milvus", "minio", "postgres"}
	if got := slices.Sorted(maps.Keys(services)); !slices.Equal(got, want) {
		t.Fatalf("services %q, want %q", got, want)
	}
	for name, s := range services {
		if _, tag, ok := strings.Cut(s.Image, ":"); !ok || tag == "" || tag == "latest" {
			t.Errorf("%s: image %q has no pinned tag", name, s.Image)
		}
		if h := s.Healthcheck; len(h.Test) < 2 || h.Interval == "" || h.Timeout == "" || h.Retries == 0 {
			t.Errorf("%s: health check %+v", name, h)
		}
		for other, d := range s.DependsOn {
			if _, ok := services[other]; !ok || d.Condition != "service_healthy" {
				t.Errorf("%s depends on %s on condition %q", name, other, d.Condition)
			}
		}
		if (len(s.Ports) > 0) != (name == "hippocampus") {
			t.Errorf("%s publishes %q", name, s.Ports)
		}
	}
	if image := services["milvus"].Image; image != "milvusdb/milvus:v2.3.5" {
		t.Errorf("Milvus is %s, but the tests run against 2.3.5", image)
	}
}

func TestCompose_KeepsDataInVolumes(t *testing.T) {
	t.Parallel()
	c := compose(t)
	for name, s := range c.Services {
		if len(s.Volumes) == 0 {
			t.Errorf("%s has no volume", name)
		}
		for _, v := range s.Volumes {
			volume, _, _ := strings.Cut(v, ":")
			if _, ok := c.Volumes[volume]; !ok {
				t.Errorf("%s mounts %q, which is not declared", name, v)
			}
		}
	}
}

var secretName = regexp.MustCompile(`PASSWORD|SECRET|KEY|ROOT_USER`)

func TestCompose_ContainsNoSecret(t *testing.T) {
	t.Parallel()
	for name, s := range compose(t).Services {
		for variable, value := range s.Environment {
			if secretName.MatchString(variable) && !strings.HasPrefix(value, "${") {
				t.Errorf("%s: %s is written into the file", name, variable)
			}
		}
	}
	given := regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)
	listed := map[string]bool{}
	for _, m := range given.FindAllStringSubmatch(text(t, "env.example"), -1) {
		listed[m[1]] = true
		if secretName.MatchString(m[1]) && m[2] != "" {
			t.Errorf("env.example gives a value for %s", m[1])
		}
	}
	used := regexp.MustCompile(`\$\{([A-Z_]+)`)
	for _, m := range used.FindAllStringSubmatch(text(t, "compose.yaml"), -1) {
		if !listed[m[1]] {
			t.Errorf("compose.yaml uses %s, which env.example does not name", m[1])
		}
	}
}

func TestCompose_SetsAValidEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{}
	for name, value := range compose(t).Services["hippocampus"].Environment {
		env = append(env, name+"="+os.Expand(value, func(string) string { return "value-for-variable" }))
	}
	env = append(env, regexp.MustCompile(`HIPPOCAMPUS_[A-Z_]+=\S+`).FindAllString(text(t, "Dockerfile"), -1)...)
	c, err := config.Load(config.Sources{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "0.0.0.0:8080" || c.Data != "/data" || c.Milvus.Host != "milvus" ||
		!strings.Contains(c.Database.URL, "@postgres:5432/") {
		t.Errorf("loaded\n%s", c)
	}
}

func TestDockerfile_IsStaticAndUnprivileged(t *testing.T) {
	t.Parallel()
	dockerfile := text(t, "Dockerfile")
	for _, want := range []string{
		"CGO_ENABLED=0", "\nFROM scratch\n", "\nUSER 65532:65532\n", "\nHEALTHCHECK ", `ENTRYPOINT ["/hippocampus"]`,
	} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("the Dockerfile does not contain %q", want)
		}
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(text(t, "../go.mod"))[1]
	if !strings.Contains(dockerfile, "FROM golang:"+version+"-") {
		t.Errorf("the Dockerfile does not build with Go %s", version)
	}
}
