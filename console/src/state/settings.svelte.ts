export const languages = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof languages;
export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** Bilingual is a value in each language of the console. */
export type Bilingual<T> = Record<Language, T>;

function read<T extends string>(name: string, known: readonly T[], otherwise: T): T {
  const value = localStorage.getItem(`hippocampus.${name}`) as T;
  return known.includes(value) ? value : otherwise;
}

/** Settings are the language and the theme, which stay in localStorage. */
class Settings {
  language = $state<Language>(
    read("language", ["en", "zh"], navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en"),
  );
  theme = $state<Theme>(read("theme", themes, "system"));

  /** apply sets both on the document; call it in an effect. */
  apply(): void {
    document.documentElement.lang = this.language === "zh" ? "zh-CN" : "en";
    document.documentElement.dataset.theme = this.theme;
    localStorage.setItem("hippocampus.language", this.language);
    localStorage.setItem("hippocampus.theme", this.theme);
  }
}

export const settings = new Settings();
