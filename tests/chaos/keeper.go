package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hippocampus/cmd/bench/target"
	"hippocampus/internal/faultproxy"
	"hippocampus/internal/freeport"
	"hippocampus/internal/llm/llmtest"
)

// keeper has the server under test, its stores, and the proxies in front of them.
type keeper struct {
	server  *target.Server
	stores  *target.Stores
	address string // of the server, the same after each restart
	clock   string // file that shifts the server's clock
	proxies []*faultproxy.Proxy
	models  *llmtest.Server
	size    target.Size
	folder  string
}

// start starts the server on fresh stores.
func start(ctx context.Context, size target.Size, folder string) (*keeper, error) {
	k := &keeper{size: size, folder: folder, clock: filepath.Join(folder, "clock")}
	err := k.start(ctx)
	if err != nil {
		_ = k.close()
	}
	return k, err
}

func (k *keeper) start(ctx context.Context) (err error) {
	if err := os.WriteFile(k.clock, nil, 0o600); err != nil {
		return err
	}
	if err := shift(k.clock, 0); err != nil {
		return err
	}
	if k.models, err = llmtest.Start("127.0.0.1:0"); err != nil {
		return err
	}
	k.models.OnChat(llmtest.Rules)
	if k.stores, err = target.NewStores(ctx, k.size, filepath.Join(k.folder, "data")); err != nil {
		return err
	}
	settings, err := k.settings()
	if err != nil {
		return err
	}
	overlay, err := k.overlay(ctx)
	if err != nil {
		return err
	}
	if k.address, err = freeport.Address(); err != nil {
		return err
	}
	k.server, err = target.Start(ctx, target.Options{
		Size: k.size, Stores: k.stores, Listen: k.address, Settings: settings, Build: []string{"-overlay", overlay},
	})
	return err
}

// settings puts a proxy in front of each store and the models, and prevents the server
// from condensing or merging what the ledger counts.
func (k *keeper) settings() ([]string, error) {
	settings := []string{
		"CHAOS_CLOCK=" + k.clock, "HIPPOCAMPUS_MILVUS_PARTITIONS=4", "HIPPOCAMPUS_PROJECTION_GRACE=1s",
		"HIPPOCAMPUS_REFLECTION_KEEP_SOURCES=true", "HIPPOCAMPUS_REFLECTION_COOLDOWN=1m",
		"DEEPSEEK_API_KEY=key", "QWEN_API_KEY=key", "MEMORY_EMBEDDING_MODEL=" + scripted.Model,
	}
	models, err := url.Parse(k.models.URL())
	if err != nil {
		return nil, err
	}
	if models.Host, err = k.proxy(models.Host); err != nil {
		return nil, err
	}
	settings = append(settings, "DEEPSEEK_API_BASE="+models.String(), "QWEN_API_BASE="+models.String())
	if k.stores.Database != "" {
		database, err := url.Parse(k.stores.Database)
		if err != nil {
			return nil, err
		}
		if database.Host, err = k.proxy(database.Host); err != nil {
			return nil, err
		}
		settings = append(settings, "DATABASE_URL="+database.String())
	}
	if k.stores.Milvus != "" {
		address, err := k.proxy(k.stores.Milvus)
		if err != nil {
			return nil, err
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		settings = append(settings, "MILVUS_HOST="+host, "MILVUS_PORT="+port)
	}
	return settings, nil
}

// proxy starts a proxy and returns its address.
func (k *keeper) proxy(upstream string) (string, error) {
	proxy, err := faultproxy.Start(upstream)
	if err != nil {
		return "", err
	}
	k.proxies = append(k.proxies, proxy)
	return proxy.Addr, nil
}

// overlay makes go build use the clock that a file shifts.
func (k *keeper) overlay(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository (run this inside it): %w", err)
	}
	root := strings.TrimSpace(string(out))
	text, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "cmd/hippocampus/clock.go"): filepath.Join(root, "tests/chaos/testdata/clock/clock.go"),
	}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(k.folder, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// restart kills the server, and starts it again after a while.
func (k *keeper) restart(ctx context.Context, down time.Duration) error {
	if k.server.Ended() {
		return fmt.Errorf("the server ended by itself:\n%s", k.server.Log())
	}
	k.server.Kill()
	wait(ctx, down)
	return k.ensure(ctx)
}

// ensure starts the server if it does not run. It tries again if the start fails, since
// the stores may be disturbed.
func (k *keeper) ensure(ctx context.Context) error {
	var err error
	for attempt := 0; attempt < 20; attempt++ {
		if !k.server.Ended() {
			return nil
		}
		if err = k.server.Run(); err == nil {
			return nil
		}
		if !k.server.Ended() {
			k.server.Kill()
		}
		time.Sleep(time.Second)
	}
	return fmt.Errorf("the server does not start: %w", err)
}

// calm ends all faults.
func (k *keeper) calm(ctx context.Context) error {
	for _, proxy := range k.proxies {
		proxy.Resume()
		proxy.Connect()
	}
	if err := shift(k.clock, 0); err != nil {
		return err
	}
	return k.ensure(ctx)
}

func (k *keeper) close() error {
	var err error
	for _, proxy := range k.proxies {
		proxy.Resume()
		proxy.Connect()
	}
	if k.server != nil {
		err = k.server.Close()
	}
	if k.stores != nil {
		dropped := k.stores.Drop()
		if err == nil {
			err = dropped
		}
	}
	for _, proxy := range k.proxies {
		proxy.Close()
	}
	if k.models != nil {
		k.models.Close()
	}
	return err
}
