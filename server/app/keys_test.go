package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/freeport"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/server/frame"
)

// statusWith returns the status of a request with a key.
func (s *instance) statusWith(key string) int {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.url+"/v1/stats", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestAdminKey_ReplacesTheOneConfiguredBefore(t *testing.T) {
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Data = t.TempDir()
	const first, second = "the-first-admin-key", "the-second-admin-key"
	host := Host{Out: &buffer{}, Err: &buffer{}, Now: time.Now}

	cfg.AdminKey = first
	start(t, cfg).stop()
	made, _, err := CreateKey(t.Context(), cfg, host, memory.Key{
		Name: "backend", AppID: "default", Role: memory.RoleAdmin,
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg.AdminKey = second
	for range 2 { // a restart with the same key changes nothing
		s := start(t, cfg)
		for key, want := range map[string]int{
			first: http.StatusUnauthorized, second: http.StatusOK, made: http.StatusOK,
		} {
			if got := s.statusWith(key); got != want {
				t.Errorf("the key %s is answered with %d, want %d", key, got, want)
			}
		}
		s.stop()
	}
	cfg.AdminKey = first
	s := start(t, cfg) // as a replica does that has the former configuration
	for key, want := range map[string]int{first: http.StatusUnauthorized, second: http.StatusOK} {
		if got := s.statusWith(key); got != want {
			t.Errorf("with the replaced key configured, the key %s is answered with %d, want %d", key, got, want)
		}
	}
	s.stop()
	reader, _, err := CreateKey(t.Context(), cfg, host, memory.Key{AppID: "default", Role: memory.RoleRead})
	if err != nil {
		t.Fatal(err)
	}
	cfg.AdminKey = reader
	if err := Run(t.Context(), cfg, host); err == nil || !strings.Contains(err.Error(), "a key of role read") {
		t.Errorf("a start with a key of role read gives %v", err)
	}
	for what, key := range map[string]memory.Key{
		"with the name of the configured one": {Name: api.ConfiguredKey, AppID: "default", Role: memory.RoleAdmin},
		"of a user and the role admin":        {AppID: "default", UserID: "ada", Role: memory.RoleAdmin},
		"of a user and no app":                {UserID: "ada", Role: memory.RoleOperator},
		"of a user that cannot be":            {AppID: "default", UserID: "a\nda", Role: memory.RoleRead},
	} {
		if _, _, err := CreateKey(t.Context(), cfg, host, key); !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("a key %s gives %v", what, err)
		}
	}
}

// The first minutes need one key: the key that is configured or printed works on the whole server.
// A client that waits for the port may use the configured key in its first request.
func TestAdminKey_IsValidInTheFirstRequest(t *testing.T) {
	for name, url := range map[string]string{"SQLite": "", "Postgres": postgrestest.URL(t)} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Data, cfg.Database.URL, cfg.AdminKey = t.TempDir(), url, testKey
			var err error
			if cfg.Listen, err = freeport.Address(); err != nil {
				t.Fatal(err)
			}
			first := make(chan int, 1)
			go func() {
				request, _ := http.NewRequest(http.MethodGet, "http://"+cfg.Listen+"/v1/stats", nil)
				request.Header.Set("Authorization", "Bearer "+testKey)
				for {
					if res, err := http.DefaultClient.Do(request); err == nil {
						res.Body.Close()
						first <- res.StatusCode
						return
					}
				}
			}()
			s := start(t, cfg)
			if status := <-first; status != http.StatusOK {
				t.Errorf("the first request is answered with %d", status)
			}
			http.DefaultClient.CloseIdleConnections()
			s.stop()
		})
	}
}

func TestAdminKey_IsThatOfAnOperator(t *testing.T) {
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Data = t.TempDir()
	cfg.AdminKey = testKey
	host := Host{Out: &buffer{}, Err: &buffer{}, Now: time.Now}
	s := start(t, cfg)
	s.admin("verify")
	s.get("/v1/stats")
	s.stop()

	admin, _, err := CreateKey(t.Context(), cfg, host, memory.Key{AppID: "default", Role: memory.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	cfg.AdminKey = admin // an admin's key may be configured also
	s = start(t, cfg)
	if got := s.statusWith(admin); got != http.StatusOK {
		t.Errorf("an admin's key that is configured: %d", got)
	}
	s.stop()

	cfg.Data, cfg.AdminKey = t.TempDir(), ""
	s = start(t, cfg)
	printed := regexp.MustCompile(`hp_[0-9a-f]{64}`).FindString(s.out.String())
	s.stop()
	keys, err := ListKeys(t.Context(), cfg, DefaultApp)
	if err != nil || len(keys) != 1 || keys[0].Role != memory.RoleOperator || keys[0].Hash != frame.HashKey(printed) {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestCommands_MakeNoDatabase(t *testing.T) {
	host := Host{Out: &buffer{}, Err: &buffer{}, Now: time.Now}
	commands := map[string]func(context.Context, config.Config) error{
		"list": func(ctx context.Context, cfg config.Config) error { _, err := ListKeys(ctx, cfg, ""); return err },
		"create": func(ctx context.Context, cfg config.Config) error {
			_, _, err := CreateKey(ctx, cfg, host, memory.Key{AppID: "default", Role: memory.RoleWrite})
			return err
		},
		"revoke": func(ctx context.Context, cfg config.Config) error { return RevokeKey(ctx, cfg, host, "x") },
		"verify": func(ctx context.Context, cfg config.Config) error { return Verify(ctx, cfg, host, false) },
	}
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, databaseFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, run := range commands {
		for place, set := range map[string]func(*config.Config){
			"no folder":       func(c *config.Config) { c.Data = filepath.Join(t.TempDir(), "absent") },
			"an empty file":   func(c *config.Config) { c.Data = empty },
			"an empty schema": func(c *config.Config) { c.Database.URL = postgrestest.URL(t) },
		} {
			t.Run(name+" with "+place, func(t *testing.T) {
				cfg := config.Default()
				set(&cfg)
				for range 2 { // the first must not leave a database for the second
					if err := run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "hippocampus migrate") {
						t.Errorf("got %v, want an error that names hippocampus migrate", err)
					}
				}
				if _, err := os.Stat(cfg.Data); place == "no folder" && !os.IsNotExist(err) {
					t.Errorf("the folder was made: %v", err)
				}
			})
		}
	}
	cfg := config.Default()
	cfg.Data = empty
	if err := Migrate(t.Context(), cfg, host); err != nil {
		t.Fatal(err)
	}
	if err := commands["list"](t.Context(), cfg); err != nil {
		t.Errorf("after the migration: %v", err)
	}
}
