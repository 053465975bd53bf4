package milvustest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The values of Milvus' common.security.tlsMode.
const (
	NoTLS     = 0
	ServerTLS = 1
	MutualTLS = 2
)

// The administrator of a new Milvus.
const (
	Root         = "root"
	RootPassword = "Milvus"
)

// Secured is a Milvus that asks for authentication and has one of the modes of TLS.
type Secured struct {
	Addr       string
	Collection string // for the test
	Own        bool   // whether it is a Milvus of the test's own
	Certificates
}

// EachSecured runs a test with a gateway in front of the Milvus of the tests, and, if
// HIPPOCAMPUS_TEST_LONG is set, with a Milvus of its own.
func EachSecured(t *testing.T, mode int, test func(t *testing.T, s Secured)) {
	t.Helper()
	t.Run("gateway", func(t *testing.T) {
		t.Parallel()
		certificates := NewCertificates(t)
		addr := startGateway(t, mode, certificates)
		test(t, Secured{Addr: addr, Collection: Collection(t), Certificates: certificates})
	})
	if os.Getenv("HIPPOCAMPUS_TEST_LONG") == "" {
		return
	}
	t.Run("Milvus", func(t *testing.T) {
		t.Parallel()
		certificates := NewCertificates(t)
		addr := startMilvus(t, mode, certificates)
		test(t, Secured{Addr: addr, Collection: "secured", Own: true, Certificates: certificates})
	})
}

// startMilvus starts a Milvus, which becomes ready within seconds, and kills it at the
// end of the test.
func startMilvus(t *testing.T, mode int, certificates Certificates) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = listener.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()

	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	services := filepath.Join(strings.TrimSpace(string(root)), "scripts/services")
	cmd := exec.Command(services, "--dir", certificates.Folder, "secured", port, strconv.Itoa(mode))
	log, err := os.Create(filepath.Join(certificates.Folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.Remove("/run/milvus/standalone-secured-" + port + ".pid") // exists if Milvus ran as root
		log.Close()
	})
	return addr
}
