//! A vector that represents the meaning of a text.

/// The vector of a text, *not* normalised: its direction is the meaning, its length grows with the
/// text. The vector of several texts together is therefore the sum of their vectors.
///
/// ```
/// use retro_search::embed::Embedding;
///
/// let mut both = Embedding::new(vec![3.0, 0.0]);
/// both.add(&Embedding::new(vec![0.0, 4.0]));
/// assert_eq!(both.values(), [3.0, 4.0]);
/// assert_eq!(both.unit(), [0.6, 0.8]);
/// assert!(Embedding::zero(2).is_zero());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    values: Vec<f32>,
}

impl Embedding {
    /// A vector with these values. If any value is not finite, the result is the zero vector, which
    /// has no direction.
    pub fn new(mut values: Vec<f32>) -> Embedding {
        if values.iter().any(|value| !value.is_finite()) {
            values.fill(0.0);
        }
        Embedding { values }
    }

    /// The zero vector: its cosine with everything is zero.
    pub fn zero(dim: usize) -> Embedding {
        Embedding { values: vec![0.0; dim] }
    }

    /// The number of values.
    pub fn dim(&self) -> usize {
        self.values.len()
    }

    /// The vector's values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// True for the zero vector.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0.0)
    }

    /// Adds another vector of the same model.
    pub fn add(&mut self, other: &Embedding) {
        for (value, more) in self.values.iter_mut().zip(&other.values) {
            *value += more;
        }
    }

    /// The same direction with length one. All zeros for the zero vector.
    pub fn unit(&self) -> Vec<f32> {
        let length = self.length();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        self.values.iter().map(|value| (f64::from(*value) * scale) as f32).collect()
    }

    /// The cosine, from -1 to 1. Zero if either vector is zero, or if their dimensions differ.
    pub fn cosine(&self, other: &Embedding) -> f32 {
        let lengths = self.length() * other.length();
        if self.dim() != other.dim() || lengths == 0.0 {
            return 0.0;
        }
        (dot(&self.values, &other.values) / lengths) as f32
    }

    fn length(&self) -> f64 {
        dot(&self.values, &self.values).sqrt()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zero_vector_is_like_nothing() {
        let some = Embedding::new(vec![1.0, 2.0]);
        assert_eq!(Embedding::zero(2).cosine(&some), 0.0);
        assert_eq!(Embedding::zero(2).unit(), [0.0, 0.0]);
        assert_eq!(some.cosine(&Embedding::new(vec![1.0])), 0.0);
        assert!((some.cosine(&some) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_vector_that_is_no_number_has_no_meaning() {
        assert!(Embedding::new(vec![1.0, f32::NAN]).is_zero());
        assert!(Embedding::new(vec![f32::INFINITY, 1.0]).is_zero());
    }
}
