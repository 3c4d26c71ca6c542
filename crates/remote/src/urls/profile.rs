//! AWS profiles, from `~/.aws/credentials` and `~/.aws/config`, or from the files that the usual
//! variables name.
//!
//! ```text
//! [default]                      [profile analysis]
//! aws_access_key_id = …          region = eu-north-1
//! aws_secret_access_key = …      role_arn = … with web_identity_token_file, or keys
//! ```
//!
//! Credentials from SSO, from a process, or from a role assumed by another profile are not
//! supported.

use std::collections::HashMap;
use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use object_store_014::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};

/// The most bytes to read from a profile file.
const MAX_BYTES: u64 = 1 << 20;

/// Properties for unsupported kinds of credentials.
const UNREAD: [&str; 7] = [
    "credential_process",
    "credential_source",
    "login_session",
    "source_profile",
    "sso_account_id",
    "sso_session",
    "sso_start_url",
];

/// A profile's properties.
#[derive(Default)]
pub(super) struct Profile(HashMap<String, String>);

impl Profile {
    /// Reads the profile named by `AWS_PROFILE`, or `default`. Without a default profile, the
    /// result is empty.
    ///
    /// # Errors
    /// Fails with Generic if `AWS_PROFILE` names a missing profile.
    pub(super) fn of_environment() -> object_store_014::Result<Self> {
        let given = env::var("AWS_PROFILE").ok().filter(|it| !it.is_empty());
        let name = given.as_deref().unwrap_or("default");
        let of = |variable: &str, usual: &str| {
            let path = env::var_os(variable).map(PathBuf::from);
            path.or_else(|| Some(env::home_dir()?.join(".aws").join(usual)))
        };
        let config = of("AWS_CONFIG_FILE", "config").and_then(read);
        let credentials = of("AWS_SHARED_CREDENTIALS_FILE", "credentials").and_then(read);
        let texts = [config, credentials].map(Option::unwrap_or_default);
        match (Self::of_texts(name, &texts), given) {
            (Some(profile), _) => Ok(profile),
            (None, None) => Ok(Self::default()),
            (None, Some(name)) => Err(object_store_014::Error::Generic {
                store: "configuration",
                source: format!(
                    "AWS_PROFILE is `{name}`, but neither ~/.aws/config nor ~/.aws/credentials has this profile"
                )
                .into(),
            }),
        }
    }

    /// Returns a profile's properties from several files. If two files have the same property, the
    /// later file wins.
    fn of_texts(name: &str, texts: &[String]) -> Option<Self> {
        let mut found = None;
        for text in texts {
            let mut is_here = false;
            // An indented line continues the previous property, so we skip it.
            for line in text.lines().filter(|it| !it.starts_with([' ', '\t'])) {
                if let Some(section) = line.strip_prefix('[') {
                    let section = section.split(']').next().unwrap_or_default().trim();
                    let rest = section.strip_prefix("profile").unwrap_or_default();
                    is_here =
                        section == name || (rest.starts_with([' ', '\t']) && rest.trim() == name);
                    if is_here {
                        found.get_or_insert_with(HashMap::new);
                    }
                } else if let Some((key, value)) = line.split_once('=')
                    && is_here
                    && !line.starts_with(['#', ';'])
                    && let Some(properties) = &mut found
                {
                    let value = value.split([' ', '\t']).find(|part| !part.is_empty());
                    let value = value.filter(|value| !value.starts_with(['#', ';']));
                    properties.insert(
                        key.trim().to_ascii_lowercase(),
                        value.unwrap_or_default().to_owned(),
                    );
                }
            }
        }
        found.map(Self)
    }

    fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// Returns true if the profile has a role with a web identity.
    fn has_web_identity(&self) -> bool {
        self.get("role_arn").is_some() && self.get("web_identity_token_file").is_some()
    }

    /// Returns true if the profile has keys for its own use, rather than for assuming a role.
    fn has_keys(&self) -> bool {
        let assumes = self.get("role_arn").is_some();
        !assumes
            && self.get("aws_access_key_id").is_some()
            && self.get("aws_secret_access_key").is_some()
    }

    /// Returns true if the profile only has credentials of an unsupported kind.
    pub(super) fn is_unread(&self) -> bool {
        let is_read = self.has_web_identity() || self.has_keys();
        !is_read && UNREAD.iter().any(|name| self.get(name).is_some())
    }

    /// Adds the region, the endpoint and the credentials, unless the store already has them.
    pub(super) fn fill(&self, mut builder: AmazonS3Builder) -> AmazonS3Builder {
        let has = |builder: &AmazonS3Builder, keys: &[Key]| {
            keys.iter()
                .any(|key| builder.get_config_value(key).is_some())
        };
        let mut add = |missing: &[Key], names: &[(Key, &str)]| {
            if has(&builder, missing) {
                return;
            }
            for (key, name) in names {
                if let Some(value) = self.get(name) {
                    builder = std::mem::take(&mut builder).with_config(*key, value);
                }
            }
        };
        add(
            &[Key::Region, Key::DefaultRegion],
            &[(Key::Region, "region")],
        );
        add(
            &[Key::Endpoint, Key::S3Endpoint],
            &[(Key::Endpoint, "endpoint_url")],
        );
        let credentials = [
            Key::AccessKeyId,
            Key::SecretAccessKey,
            Key::WebIdentityTokenFile,
        ];
        if self.has_web_identity() {
            add(
                &credentials,
                &[
                    (Key::RoleArn, "role_arn"),
                    (Key::RoleSessionName, "role_session_name"),
                    (Key::WebIdentityTokenFile, "web_identity_token_file"),
                ],
            );
        } else if self.has_keys() {
            add(
                &credentials,
                &[
                    (Key::AccessKeyId, "aws_access_key_id"),
                    (Key::SecretAccessKey, "aws_secret_access_key"),
                    (Key::Token, "aws_session_token"),
                ],
            );
        }
        builder
    }
}

/// Returns a file's text, or `None` if it cannot be read. Such a file counts as having no profiles.
fn read(path: PathBuf) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str, config: &str, credentials: &str) -> Option<Profile> {
        Profile::of_texts(name, &[config.to_owned(), credentials.to_owned()])
    }

    fn filled(profile: &Profile, key: Key) -> Option<String> {
        let builder = profile.fill(AmazonS3Builder::new());
        builder.get_config_value(&key)
    }

    #[test]
    fn sections_and_properties_are_those_of_both_files() {
        let config = "[default]\nregion=eu-west-1\n[profile a b]\nREGION = us-east-2 # near\ns3 =\n  region = no\n\
                      # region = no\n[services x]\nregion = no\n[profile\ttab]\nregion = r\n";
        let credentials = "[default]\naws_access_key_id = AKIA\naws_secret_access_key=a/b+c==\nregion = first\n[a b]\n";
        let default = profile("default", config, credentials).unwrap();
        assert_eq!(filled(&default, Key::Region).as_deref(), Some("first"));
        assert_eq!(
            filled(&default, Key::SecretAccessKey).as_deref(),
            Some("a/b+c==")
        );
        let named = profile("a b", config, credentials).unwrap();
        assert_eq!(filled(&named, Key::Region).as_deref(), Some("us-east-2"));
        assert_eq!(filled(&named, Key::AccessKeyId), None);
        assert!(profile("tab", config, "").is_some());
        for missing in ["x", "profile", "b"] {
            assert!(profile(missing, config, credentials).is_none(), "{missing}");
        }
    }

    #[test]
    fn credentials_of_other_kinds_are_not_read() {
        let keys = "aws_access_key_id=AKIA\naws_secret_access_key=s\n";
        for (properties, is_unread, has) in [
            (keys, false, Some(Key::AccessKeyId)),
            (
                "role_arn=r\nweb_identity_token_file=/t\n",
                false,
                Some(Key::RoleArn),
            ),
            ("sso_session=x\n", true, None),
            ("credential_process=/bin/x\n", true, None),
            ("role_arn=r\nsource_profile=base\n", true, None),
            ("aws_access_key_id=AKIA\n", false, None),
            ("", false, None),
        ] {
            let profile = profile("default", "", &format!("[default]\n{properties}")).unwrap();
            assert_eq!(profile.is_unread(), is_unread, "{properties}");
            let found = [Key::AccessKeyId, Key::RoleArn];
            let found = found
                .into_iter()
                .find(|key| filled(&profile, *key).is_some());
            assert_eq!(found, has, "{properties}");
        }
        // Keys for assuming a role must not be used in its place.
        let role = format!("[default]\nrole_arn=r\nsource_profile=default\n{keys}");
        let role = profile("default", "", &role).unwrap();
        assert!(role.is_unread() && filled(&role, Key::AccessKeyId).is_none());
    }

    #[test]
    fn the_environment_precedes() {
        let profile = profile(
            "default",
            "[default]\nregion=r\nendpoint_url=http://e",
            "[default]\naws_access_key_id=a\naws_secret_access_key=s\naws_session_token=t",
        );
        let builder = AmazonS3Builder::new()
            .with_access_key_id("own")
            .with_region("mine");
        let builder = profile.unwrap().fill(builder);
        let value = |key| builder.get_config_value(&key);
        assert_eq!(value(Key::AccessKeyId).as_deref(), Some("own"));
        assert_eq!(
            (value(Key::SecretAccessKey), value(Key::Token)),
            (None, None)
        );
        assert_eq!(value(Key::Region).as_deref(), Some("mine"));
        assert_eq!(value(Key::Endpoint).as_deref(), Some("http://e"));
    }
}
