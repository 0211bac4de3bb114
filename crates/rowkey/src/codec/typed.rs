//! Keys as tuples of Rust types: the same keys and checks as with [`Value`]s, without a list of them.

#![expect(
    clippy::inline_always,
    reason = "measured: a call for each part of a key costs a tenth to a fifth of the whole key"
)]

use super::Codec;
use super::quick::{self, Eye, Key, Pen, QuickStep};
use crate::encode::quick::Window;
use crate::{Error, Result, Time, Value};
use std::borrow::Cow;

/// A tuple of one to eight fields, in their order in the key.
///
/// A field is a `&str` or `Cow<str>`, a `&[u8]` or `Cow<[u8]>`, an integer of up to 64 bits, an `f64`, a [`Time`], or the `[u8; 16]` of
/// a UUID. Any of the integers goes with any field of integers; what does not fit is an error. A `&str` and a `&[u8]` cannot be read
/// from a field that has to be unescaped, complemented or put in another order: use a `Cow` there.
pub trait KeyFields<'k>: sealed::Fields<'k> {}

impl<'k, T: sealed::Fields<'k>> KeyFields<'k> for T {}

/// What the traits do, which may change.
mod sealed {
    use super::{Codec, Key, QuickStep, Result, Value, Window};

    pub trait Field<'k>: Sized {
        fn to_value(&self) -> Value<'_>;

        /// `None`: of another type, or it does not fit.
        fn from_value(value: Value<'k>) -> Option<Self>;

        #[inline]
        fn put(&self, _step: &QuickStep, _window: &mut Window, _at: usize) -> Option<usize> {
            None
        }

        #[inline]
        fn take(_step: &QuickStep, _key: Key<'k>, _at: usize) -> Option<(Self, usize)> {
            None
        }
    }

    pub trait Fields<'k>: Sized {
        fn put(&self, codec: &Codec, out: &mut Vec<u8>) -> Option<()>;
        fn put_any(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<()>;
        fn take(codec: &Codec, key: &'k [u8]) -> Option<Self>;
        fn from_values(codec: &Codec, values: Vec<Value<'k>>) -> Result<Self>;
    }
}

impl Codec {
    /// As [`Codec::encode`], from a tuple. The fastest way to write keys of text, numbers and times.
    ///
    /// ```
    /// # use rowkey::{Codec, KeySchema, Time};
    /// # let schema = "version = 1\ntable = \"t\"\n[key]\nlayout = \"{tenant}#{vehicle}#{time}\"\n\
    /// #     [key.fields]\ntenant = { type = \"string\" }\nvehicle = { type = \"uint\", digits = 5 }\n\
    /// #     time = { type = \"timestamp\", unit = \"s\", digits = 10 }\n";
    /// let codec = Codec::new(KeySchema::parse(schema)?)?;
    /// let mut key = Vec::new();
    /// codec.encode_tuple(&("acme", 4092u32, Time::from_seconds(1_790_000_000)), &mut key)?;
    /// assert_eq!(key, b"acme#04092#1790000000");
    ///
    /// let (tenant, vehicle, time): (&str, u32, Time) = codec.decode_tuple(&key)?;
    /// assert_eq!((tenant, vehicle, time.as_seconds()), ("acme", 4092, 1_790_000_000));
    /// # Ok::<(), rowkey::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Codec::encode`].
    #[inline]
    pub fn encode_tuple<'v>(&self, fields: &impl KeyFields<'v>, out: &mut Vec<u8>) -> Result<()> {
        match fields.put(self, out) {
            Some(()) => Ok(()),
            None => fields.put_any(self, out),
        }
    }

    /// As [`Codec::decode`], to a tuple.
    ///
    /// # Errors
    ///
    /// As [`Codec::decode`]; and [`ErrorKind::Value`](crate::ErrorKind::Value), naming the field, if its value is not of this type.
    #[inline]
    pub fn decode_tuple<'k, T: KeyFields<'k>>(&self, key: &'k [u8]) -> Result<T> {
        match T::take(self, key) {
            Some(fields) => Ok(fields),
            None => self.decode_tuple_any(key),
        }
    }

    #[cold]
    fn decode_tuple_any<'k, T: KeyFields<'k>>(&self, key: &'k [u8]) -> Result<T> {
        let mut values = Vec::new();
        self.decode_any(key, &mut values)?;
        T::from_values(self, values)
    }

    #[cold]
    fn wrong_type<T>(&self, field: usize, value: &Value<'_>) -> Error {
        let text = self.format_value(field, value);
        let (got, asked) = (value.type_name(), std::any::type_name::<T>());
        let message =
            format!("the key holds {got}, `{text}`, which is no `{asked}`: read it as another type");
        Error::value(message).in_field(self.name(field))
    }
}

macro_rules! tuple {
    ($count:literal, $($type:ident $field:tt $step:ident)+) => {
        impl<'k, $($type: sealed::Field<'k>),+> sealed::Fields<'k> for ($($type,)+) {
            #[inline]
            fn put(&self, codec: &Codec, out: &mut Vec<u8>) -> Option<()> {
                let (plan, salt) = (codec.inner.quick.as_ref()?, codec.inner.salt.as_ref());
                let [$($step),+] = &*plan.steps else { return None };
                quick::in_window(out, |window| {
                    let mut pen = Pen::new(plan, salt.map_or(0, |salt| salt.width), window)?;
                    $(pen.step($step, |window, at| self.$field.put($step, window, at))?;)+
                    pen.finish(plan, salt)
                })
            }

            #[cold]
            fn put_any(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<()> {
                codec.encode_any(&[$(self.$field.to_value()),+], out)
            }

            #[inline]
            fn take(codec: &Codec, key: &'k [u8]) -> Option<Self> {
                let (plan, salt) = (codec.inner.quick.as_ref()?, codec.inner.salt.as_ref());
                let [$($step),+] = &*plan.steps else { return None };
                let mut eye = Eye::new(plan, salt.map_or(0, |salt| salt.width), key)?;
                let fields = ($(eye.step($step, |key, at| $type::take($step, key, at))?,)+);
                eye.finish(plan, salt)?;
                Some(fields)
            }

            fn from_values(codec: &Codec, values: Vec<Value<'k>>) -> Result<Self> {
                let values: [Value<'k>; $count] = values
                    .try_into()
                    .map_err(|values: Vec<_>| super::wrong_count($count, values.len()))?;
                let [$($step),+] = values;
                Ok(($({
                    let copy = $step.clone();
                    $type::from_value($step).ok_or_else(|| codec.wrong_type::<$type>($field, &copy))?
                },)+))
            }
        }
    };
}

tuple!(1, A 0 a);
tuple!(2, A 0 a B 1 b);
tuple!(3, A 0 a B 1 b C 2 c);
tuple!(4, A 0 a B 1 b C 2 c D 3 d);
tuple!(5, A 0 a B 1 b C 2 c D 3 d E 4 e);
tuple!(6, A 0 a B 1 b C 2 c D 3 d E 4 e F 5 f);
tuple!(7, A 0 a B 1 b C 2 c D 3 d E 4 e F 5 f G 6 g);
tuple!(8, A 0 a B 1 b C 2 c D 3 d E 4 e F 5 f G 6 g H 7 h);

impl<'k> sealed::Field<'k> for &'k str {
    fn to_value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }

    fn from_value(value: Value<'k>) -> Option<Self> {
        match value {
            Value::Text(Cow::Borrowed(text)) => Some(text),
            _ => None,
        }
    }

    #[inline(always)]
    fn put(&self, step: &QuickStep, window: &mut Window, at: usize) -> Option<usize> {
        quick::put_text(step.quick, self, window, at)
    }

    #[inline(always)]
    fn take(step: &QuickStep, key: Key<'k>, at: usize) -> Option<(Self, usize)> {
        quick::take_text(step.quick, key, at)
    }
}

impl<'k> sealed::Field<'k> for Cow<'k, str> {
    fn to_value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }

    fn from_value(value: Value<'k>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    #[inline(always)]
    fn put(&self, step: &QuickStep, window: &mut Window, at: usize) -> Option<usize> {
        quick::put_text(step.quick, self, window, at)
    }

    #[inline(always)]
    fn take(step: &QuickStep, key: Key<'k>, at: usize) -> Option<(Self, usize)> {
        quick::take_text(step.quick, key, at).map(|(text, end)| (Cow::Borrowed(text), end))
    }
}

impl<'k> sealed::Field<'k> for &'k [u8] {
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(Cow::Borrowed(self))
    }

    fn from_value(value: Value<'k>) -> Option<Self> {
        match value {
            Value::Bytes(Cow::Borrowed(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

impl<'k> sealed::Field<'k> for Cow<'k, [u8]> {
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(Cow::Borrowed(self))
    }

    fn from_value(value: Value<'k>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl<'k> sealed::Field<'k> for Time {
    fn to_value(&self) -> Value<'_> {
        Value::Time(*self)
    }

    fn from_value(value: Value<'k>) -> Option<Self> {
        match value {
            Value::Time(time) => Some(time),
            _ => None,
        }
    }

    #[inline(always)]
    fn put(&self, step: &QuickStep, window: &mut Window, at: usize) -> Option<usize> {
        quick::put_time(step.quick, *self, window, at)
    }

    #[inline(always)]
    fn take(step: &QuickStep, key: Key<'k>, at: usize) -> Option<(Self, usize)> {
        quick::take_time(step.quick, key, at)
    }
}

impl<'k> sealed::Field<'k> for f64 {
    fn to_value(&self) -> Value<'_> {
        Value::Float(*self)
    }

    fn from_value(value: Value<'k>) -> Option<Self> {
        match value {
            Value::Float(number) => Some(number),
            _ => None,
        }
    }
}

impl<'k> sealed::Field<'k> for [u8; 16] {
    fn to_value(&self) -> Value<'_> {
        Value::Uuid(*self)
    }

    fn from_value(value: Value<'k>) -> Option<Self> {
        match value {
            Value::Uuid(bytes) => Some(bytes),
            _ => None,
        }
    }
}

macro_rules! integer {
    ($value:ident, $wide:ty, $put:ident, $take:ident: $($type:ty)+) => {
        $(impl<'k> sealed::Field<'k> for $type {
            fn to_value(&self) -> Value<'_> {
                Value::$value(<$wide>::from(*self))
            }

            fn from_value(value: Value<'k>) -> Option<Self> {
                match value {
                    Value::Uint(number) => number.try_into().ok(),
                    Value::Int(number) => number.try_into().ok(),
                    _ => None,
                }
            }

            #[inline(always)]
            fn put(&self, step: &QuickStep, window: &mut Window, at: usize) -> Option<usize> {
                quick::$put(step.quick, <$wide>::from(*self), window, at)
            }

            #[inline(always)]
            fn take(step: &QuickStep, key: Key<'k>, at: usize) -> Option<(Self, usize)> {
                let (number, end) = quick::$take(step.quick, key, at)?;
                Some((number.try_into().ok()?, end))
            }
        })+
    };
}

integer!(Uint, u64, put_uint, take_uint: u8 u16 u32 u64);
integer!(Int, i64, put_int, take_int: i8 i16 i32 i64);

#[cfg(test)]
mod tests;
