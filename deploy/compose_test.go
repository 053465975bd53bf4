// Package deploy tests the files that install the server.
package deploy

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"hippocampus/server/config"
)

// service has the fields of the Compose specification that the compose files may use.
type service struct {
	Image           string
	Profiles        []string
	Command         []string
	Restart         string
	Environment     map[string]string
	Ports           []string
	Volumes         []string
	StopGracePeriod time.Duration                         `yaml:"stop_grace_period"`
	SecurityOpt     []string                              `yaml:"security_opt"`
	DependsOn       map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck     struct {
		Test              []string
		Interval, Timeout time.Duration
		Retries           int
		StartPeriod       time.Duration `yaml:"start_period"`
	}
	Build struct{ Context, Dockerfile string }
}

type composition struct {
	Name        string
	Server      service           `yaml:"x-server"` // what servers have in common
	Environment map[string]string `yaml:"x-environment"`
	Services    map[string]service
	Volumes     map[string]*struct{} // without options
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// compositions are the compose files with the services that each has, by profile. The services of "" run with every
// profile.
var compositions = map[string]map[string][]string{
	"compose.yaml": {
		"": {"postgres"}, "pgvector": {"hippocampus"}, "milvus": {"etcd", "hippocampus-milvus", "milvus", "minio"},
	},
	"compose.demo.yaml": {"": {"hippocampus", "open-webui"}},
}

// onEachComposition runs a test with each compose file.
func onEachComposition(t *testing.T, test func(t *testing.T, file string, c composition)) {
	t.Helper()
	t.Parallel()
	for file := range compositions {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			test(t, file, compose(t, file))
		})
	}
}

// compose decodes a file. A field that composition does not have, and a value of another type, is an error.
func compose(t *testing.T, file string) composition {
	t.Helper()
	c, err := decoded(text(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func decoded(file string) (c composition, err error) {
	d := yaml.NewDecoder(strings.NewReader(file))
	d.KnownFields(true)
	err = d.Decode(&c)
	return c, err
}

func TestCompose_IsDecodedStrictly(t *testing.T) {
	onEachComposition(t, func(t *testing.T, file string, c composition) {
		for name, s := range c.Services {
			if s.Restart != "unless-stopped" || s.isServer() && s.StopGracePeriod <= config.Default().API.ShutdownTimeout {
				t.Errorf("%s: restart %q, stop after %s", name, s.Restart, s.StopGracePeriod)
			}
			if s.isServer() && (s.Build.Context != ".." || !strings.Contains(text(t, "../"+s.Build.Dockerfile), "FROM")) {
				t.Errorf("%s is built from %+v", name, s.Build)
			}
		}
		for was, wrong := range map[string]string{
			"restart:": "restarts:", "interval: 10s": "interval: soon", "depends_on:": "dependson:", "ports:": "port:",
			"\nvolumes:": "\nvolume:", "condition:": "conditions:",
		} {
			changed := strings.Replace(text(t, file), was, wrong, 1)
			if _, err := decoded(changed); err == nil {
				t.Errorf("%q instead of %q is not refused", wrong, was)
			}
		}
	})
}

// isServer reports whether a service is this server.
func (s service) isServer() bool { return s.Image == "hippocampus:local" }

// pinned matches images with a version, or hippocampus:local, and perhaps a digest.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:(.*\d\.\d.*|RELEASE\..*|local)(@sha256:[0-9a-f]{64})?$`)

func TestCompose_HasTheServicesOfItsProfiles(t *testing.T) {
	onEachComposition(t, func(t *testing.T, file string, c composition) {
		found := map[string][]string{}
		for _, name := range slices.Sorted(maps.Keys(c.Services)) {
			s := c.Services[name]
			profiles := s.Profiles
			if len(profiles) == 0 {
				profiles = []string{""}
			}
			for _, profile := range profiles {
				found[profile] = append(found[profile], name)
			}
			for other, d := range s.DependsOn {
				needed, ok := c.Services[other]
				if !ok || d.Condition != "service_healthy" {
					t.Errorf("%s depends on %s on condition %q", name, other, d.Condition)
				}
				if len(needed.Profiles) > 0 && !slices.Equal(needed.Profiles, s.Profiles) {
					t.Errorf("%s depends on %s, which is in other profiles", name, other)
				}
			}
		}
		if diff := cmp.Diff(compositions[file], found); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCompose_PinsAndHealthChecksEveryService(t *testing.T) {
	onEachComposition(t, func(t *testing.T, file string, c composition) {
		for name, s := range c.Services {
			if !pinned.MatchString(s.Image) {
				t.Errorf("%s: image %q has no version", name, s.Image)
			}
			if h := s.Healthcheck; len(h.Test) < 2 || h.Interval == 0 || h.Timeout == 0 || h.Retries == 0 {
				t.Errorf("%s: health check %+v", name, h)
			}
			if published := s.isServer() || name == "open-webui"; (len(s.Ports) > 0) != published {
				t.Errorf("%s publishes %q", name, s.Ports)
			}
			for _, port := range s.Ports {
				if !strings.HasPrefix(port, "127.0.0.1:") && !strings.HasPrefix(port, "${PUBLISH:-127.0.0.1:") {
					t.Errorf("%s publishes %s beyond loopback", name, port)
				}
			}
			if len(s.SecurityOpt) > 0 {
				t.Errorf("%s has the security options %q", name, s.SecurityOpt)
			}
			if name == "milvus" && !strings.HasPrefix(s.Image, "milvusdb/milvus:v2.3.5") {
				t.Errorf("Milvus is %s, but the tests run against 2.3.5", s.Image)
			}
		}
	})
}

func TestCompose_KeepsDataInVolumes(t *testing.T) {
	onEachComposition(t, func(t *testing.T, _ string, c composition) {
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
	})
}

var secretName = regexp.MustCompile(`PASSWORD|SECRET|KEY|ROOT_USER`)

func TestCompose_ContainsNoSecret(t *testing.T) {
	given := regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)
	listed := map[string]bool{}
	for _, m := range given.FindAllStringSubmatch(text(t, "env.example"), -1) {
		listed[m[1]] = true
		if secretName.MatchString(m[1]) && m[2] != "" {
			t.Errorf("env.example gives a value for %s", m[1])
		}
	}
	onEachComposition(t, func(t *testing.T, file string, c composition) {
		for name, s := range c.Services {
			for variable, value := range s.Environment {
				if secretName.MatchString(variable) && !strings.HasPrefix(value, "${") {
					t.Errorf("%s: %s is written into the file", name, variable)
				}
			}
		}
		used := regexp.MustCompile(`\$\{([A-Z_]+)`)
		for _, m := range used.FindAllStringSubmatch(text(t, file), -1) {
			if !listed[m[1]] {
				t.Errorf("%s uses %s, which env.example does not name", file, m[1])
			}
		}
	})
}

func TestCompose_SetsAValidEnvironment(t *testing.T) {
	loaded := func(t *testing.T, s service) config.Config {
		t.Helper()
		env := regexp.MustCompile(`HIPPOCAMPUS_[A-Z_]+=\S+`).FindAllString(text(t, "Dockerfile"), -1)
		for name, value := range s.Environment {
			env = append(env, name+"="+os.Expand(value, func(variable string) string {
				if strings.HasPrefix(variable, "MODEL_BASE_URL") {
					return "https://model.example.com/v1"
				}
				return "value-for-variable"
			}))
		}
		c, err := config.Load(config.Sources{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	onEachComposition(t, func(t *testing.T, file string, c composition) {
		for name, s := range c.Services {
			if !s.isServer() {
				continue
			}
			c := loaded(t, s)
			onPostgres, onMilvus := file == "compose.yaml", name == "hippocampus-milvus"
			if c.Listen != "0.0.0.0:8080" || c.Data != "/data" || (c.Milvus.Host == "milvus") != onMilvus ||
				strings.Contains(c.Database.URL, "@postgres:5432/") != onPostgres ||
				(c.Vectors == "pgvector") != (onPostgres && !onMilvus) || c.Proxy.TrustHeaders == onPostgres {
				t.Errorf("%s: loaded\n%s", name, c)
			}
		}
	})
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
