package hippocampus_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	hippocampus "hippocampus/sdk/go"
)

// server is the built program, on a new folder of the embedded size.
var server struct{ program, data string }

// TestMain starts a server, which [hippocampus.New] finds by the environment, and runs the tests.
func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "sdk-go-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := build(dir); err != nil {
		return 0, err
	}
	server.data = filepath.Join(dir, "data")
	serve := exec.Command(server.program, "serve", "--data", server.data, "--listen", "127.0.0.1:0")
	serve.Env = environment()
	banner, err := serve.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := serve.Start(); err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, serve.Process.Signal(syscall.SIGTERM), serve.Wait())
	}()
	address := regexp.MustCompile(`listening on (\S+)`)
	key := regexp.MustCompile(`^Admin key.*: (\S+)`)
	for lines := bufio.NewScanner(banner); lines.Scan(); {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			os.Setenv("HIPPOCAMPUS_URL", found[1])
		}
		if found := key.FindStringSubmatch(lines.Text()); found != nil {
			os.Setenv("HIPPOCAMPUS_KEY", found[1])
			return m.Run(), nil
		}
	}
	return 0, errors.New("the server prints no admin key")
}

// build sets server.program: $HIPPOCAMPUS_TEST_BINARY, or a fresh build.
func build(dir string) error {
	if server.program = os.Getenv("HIPPOCAMPUS_TEST_BINARY"); server.program != "" {
		return nil
	}
	server.program = filepath.Join(dir, "hippocampus")
	command := exec.Command("go", "build", "-o", server.program, "./cmd/hippocampus")
	command.Dir = filepath.Join("..", "..")
	command.Env = append(os.Environ(), "CGO_ENABLED=0") // as scripts/test builds it, for the cache
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// environment returns the environment without settings of a server.
func environment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !regexp.MustCompile(`^(HIPPOCAMPUS_|MILVUS_|MEMORY_|DEEPSEEK_|QWEN_|DATABASE_URL)`).MatchString(entry) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// newClient returns a client of the server, whose connections end with the test.
func newClient(t testing.TB, options ...hippocampus.Option) *hippocampus.Client {
	t.Helper()
	client, err := hippocampus.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// newApp returns a client with an admin key of a new app.
func newApp(t *testing.T) *hippocampus.Client {
	t.Helper()
	command := exec.Command(server.program, "key", "create", "--app", uuid.NewString(), "--role", "admin")
	command.Env = append(environment(), "HIPPOCAMPUS_DATA="+server.data)
	key, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, hippocampus.WithKey(strings.TrimSpace(string(key))))
}

// remember writes memories of a new user and returns the user's id.
func remember(t testing.TB, client *hippocampus.Client, contents ...string) string {
	t.Helper()
	user := uuid.NewString()
	for _, content := range contents {
		request := hippocampus.MemoryRequest{UserID: user, Content: content}
		if _, err := client.Remember(context.Background(), request); err != nil {
			t.Fatal(err)
		}
	}
	return user
}
