package function

import "testing"

func TestIsForeign_KnowsLanguagesByWordsAndScript(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"Que répare mon frère ?":              true,
		"¿Dónde está la contraseña?":          true,
		"¿Qué casa compramos?":                true,
		"Da quando vivo a Torino?":            true,
		"Onde está a senha?":                  true,
		"Was repariert mein Bruder?":          false,
		"Что чинит мой брат?":                 true,
		"מתי פג הדרכון?":                      true,
		"من يطعم القطة؟":                      true,
		"누가 고양이를 돌봐?":                         true,
		"รหัสผ่านติดอยู่ที่ไหน":               true,
		"我在哪里工作？":                             false,
		"What does Des say about La La Land?": false,
		"car insurance":                       false,
		"Where does Μαρία work?":              false,
		"":                                    false,
	} {
		if got := IsForeign(query); got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}
