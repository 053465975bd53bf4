package milvus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/milvus/milvustest"
)

// secured are options with which a Milvus of the mode accepts the store.
func secured(s milvustest.Secured, mode int) milvus.Options {
	o := milvus.Options{
		Addr: s.Addr, Collection: s.Collection, Space: space, Partitions: milvustest.Partitions, Timeout: time.Minute,
		User: milvustest.Root, Password: milvustest.RootPassword,
	}
	switch mode {
	case milvustest.ServerTLS:
		o.TLS = &milvus.TLS{CAFile: s.CA, ServerName: milvustest.ServerName}
	case milvustest.MutualTLS:
		o.TLS = &milvus.TLS{
			CAFile: s.CA, ServerName: milvustest.ServerName, CertFile: s.ClientCert, KeyFile: s.ClientKey,
		}
	}
	return o
}

// openSecured waits until a Milvus that has just been started accepts the store.
func openSecured(t *testing.T, o milvus.Options) *milvus.Store {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		s, err := milvus.Open(t.Context(), o)
		if err == nil {
			t.Cleanup(func() { s.Close() })
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the store cannot be opened: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// wantRefusal checks that a store of these options is refused for the reason, with an
// error that contains the texts and no secret.
func wantRefusal(t *testing.T, o milvus.Options, reason memory.Reason, texts ...string) {
	t.Helper()
	s, err := milvus.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Ping(t.Context())
	if !memory.IsKind(err, memory.KindUnavailable) || memory.ReasonOf(err) != reason {
		t.Fatalf("%v: reason %q, want %q", err, memory.ReasonOf(err), reason)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v: it does not contain %q", err, text)
		}
	}
	if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), ":"+milvustest.RootPassword) {
		t.Errorf("%v: it contains a secret", err)
	}
}

// createUser creates a user without a role.
func createUser(t *testing.T, root, user milvus.Options) {
	t.Helper()
	c, err := client.NewClient(t.Context(), client.Config{
		Address: root.Addr, Username: root.User, Password: root.Password,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.CreateCredential(t.Context(), user.User, user.Password); err != nil {
		t.Fatal(err)
	}
}

func TestStore_Authenticates(t *testing.T) {
	t.Parallel()
	milvustest.EachSecured(t, milvustest.NoTLS, func(t *testing.T, secure milvustest.Secured) {
		o := secured(secure, milvustest.NoTLS)
		s := openSecured(t, o)
		rec := record()
		if err := s.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
			t.Fatal(err)
		}
		awaitHit(t, s, rec)

		none := o
		none.User, none.Password = "", ""
		wantRefusal(t, none, memory.ReasonCredentials, "requires authentication", "milvus.user", "milvus.token")
		wrong := o
		wrong.Password = "hush-password"
		wantRefusal(t, wrong, memory.ReasonCredentials, "correct milvus.user and milvus.password")
		token := none
		token.Token = "hush-token"
		wantRefusal(t, token, memory.ReasonCredentials, "correct milvus.token")
		token.Token = milvustest.Root + ":" + milvustest.RootPassword
		if err := openSecured(t, token).Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if secure.Own {
			reader := o
			reader.User, reader.Password = "reader", "hush-password"
			createUser(t, o, reader)
			wantRefusal(t, reader, memory.ReasonPrivileges, "milvus.user", "grant it to a role")
		}
		encrypted := o
		encrypted.TLS = &milvus.TLS{}
		wantRefusal(t, encrypted, memory.ReasonTLS, "milvus.tls.enabled to false")
	})
}

func TestStore_UsesTLS(t *testing.T) {
	t.Parallel()
	milvustest.EachSecured(t, milvustest.ServerTLS, func(t *testing.T, secure milvustest.Secured) {
		o := secured(secure, milvustest.ServerTLS)
		if err := openSecured(t, o).Ping(t.Context()); err != nil {
			t.Error(err)
		}
		plain, wrong := o, o
		plain.TLS = nil
		wantRefusal(t, plain, memory.ReasonTLS, "milvus.tls.enabled to true")
		wrong.Password = "hush-password"
		wantRefusal(t, wrong, memory.ReasonCredentials, "correct milvus.user and milvus.password")
		for remedy, set := range map[string]milvus.TLS{
			"milvus.tls.ca_file":     {ServerName: milvustest.ServerName},
			"milvus.tls.server_name": {CAFile: secure.CA},
		} {
			o.TLS = &set
			wantRefusal(t, o, memory.ReasonTLS, remedy)
		}
	})
}

func TestStore_UsesMutualTLS(t *testing.T) {
	t.Parallel()
	milvustest.EachSecured(t, milvustest.MutualTLS, func(t *testing.T, secure milvustest.Secured) {
		o := secured(secure, milvustest.MutualTLS)
		if err := openSecured(t, o).Ping(t.Context()); err != nil {
			t.Error(err)
		}
		for name, set := range map[string]milvus.TLS{
			"without a certificate": {},
			"with the certificate of another authority": {
				CertFile: secure.StrangerCert, KeyFile: secure.StrangerKey,
			},
		} {
			t.Run(name, func(t *testing.T) {
				o := o
				set.CAFile, set.ServerName = secure.CA, milvustest.ServerName
				o.TLS = &set
				wantRefusal(t, o, memory.ReasonTLS, "milvus.tls.cert_file", "milvus.tls.key_file")
			})
		}
	})
}

func TestConnect_RefusesUnreadableCertificates(t *testing.T) {
	t.Parallel()
	files := milvustest.NewCertificates(t)
	for setting, set := range map[string]milvus.TLS{
		"milvus.tls.ca_file cannot be read": {CAFile: files.Folder + "/absent.pem"},
		"contains no certificate":           {CAFile: files.ClientKey},
		"milvus.tls.cert_file":              {CertFile: files.ClientCert, KeyFile: files.StrangerKey},
	} {
		_, err := milvus.Connect(t.Context(), milvus.Options{Addr: "127.0.0.1:1", Space: space, TLS: &set})
		if !memory.IsKind(err, memory.KindInvalid) || !strings.Contains(err.Error(), setting) {
			t.Errorf("%v: want an error of kind invalid with %q", err, setting)
		}
	}
}
