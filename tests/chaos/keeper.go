package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hippocampus/cmd/bench/target"
	"hippocampus/internal/faultproxy"
	"hippocampus/internal/llm/llmtest"
)

// keeper has the servers under test, their stores, and the proxies in front of them.
type keeper struct {
	replicas []*replica
	stores   *target.Stores
	proxies  []*faultproxy.Proxy
	crashing []service
	disk     *disk
	models   *llmtest.Server
	size     target.Size
	folder   string
}

// start starts the servers on fresh stores.
func start(ctx context.Context, o options, folder string) (*keeper, error) {
	k := &keeper{size: o.size, folder: folder}
	err := k.start(ctx, o)
	if err != nil {
		_ = k.close()
	}
	return k, err
}

func (k *keeper) start(ctx context.Context, o options) (err error) {
	if k.models, err = llmtest.Start("127.0.0.1:0"); err != nil {
		return err
	}
	k.models.OnChat(llmtest.Rules)
	data := filepath.Join(k.folder, "data")
	if o.disk > 0 {
		if k.disk, err = mount(data, o.disk); err != nil {
			return err
		}
	}
	if k.stores, err = target.NewStores(ctx, k.size, data); err != nil {
		return err
	}
	if o.crashes != "" {
		k.crashing = servicesOf(k.size, o.crashes)
	}
	settings, err := k.settings()
	if err != nil {
		return err
	}
	overlay, err := k.overlay(ctx)
	if err != nil {
		return err
	}
	for i := range o.servers {
		r := &replica{clock: filepath.Join(k.folder, fmt.Sprint("clock", i))}
		if err := r.start(ctx, target.Options{
			Size: k.size, Stores: k.stores, Settings: settings, Build: []string{"-overlay", overlay},
		}); err != nil {
			return err
		}
		k.replicas = append(k.replicas, r)
	}
	return nil
}

// settings puts a proxy in front of each store and the models, and prevents the server
// from condensing or merging what the ledger counts.
func (k *keeper) settings() ([]string, error) {
	settings := []string{
		"HIPPOCAMPUS_MILVUS_PARTITIONS=4", "HIPPOCAMPUS_PROJECTION_GRACE=1s",
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

// calm ends all faults.
func (k *keeper) calm(ctx context.Context) error {
	for _, proxy := range k.proxies {
		proxy.Resume()
		proxy.Connect()
	}
	for _, r := range k.replicas {
		if err := errors.Join(shift(r.clock, 0), r.ensure(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// addresses are the addresses of the servers, which are the same after each restart.
func (k *keeper) addresses() []string {
	var all []string
	for _, r := range k.replicas {
		all = append(all, r.address)
	}
	return all
}

// logs are the ends of the servers' logs.
func (k *keeper) logs() string {
	var all []string
	for _, r := range k.replicas {
		all = append(all, r.server.Log())
	}
	return strings.Join(all, "\n--- another server ---\n")
}

func (k *keeper) close() error {
	var errs []error
	for _, proxy := range k.proxies {
		proxy.Resume()
		proxy.Connect()
	}
	for _, r := range k.replicas {
		errs = append(errs, r.server.Close())
	}
	if k.stores != nil {
		errs = append(errs, k.stores.Drop())
	}
	for _, proxy := range k.proxies {
		proxy.Close()
	}
	if k.models != nil {
		k.models.Close()
	}
	if k.disk != nil {
		errs = append(errs, k.disk.unmount())
	}
	return errors.Join(errs...)
}
