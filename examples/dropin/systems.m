% Systems of equations in Octave: by LU, by Cholesky and by QR.
%
%     octave-cli examples/dropin/systems.m
%     LD_PRELOAD=target/release/libsuperscalar_blas.so octave-cli examples/dropin/systems.m
%
% The script does not depend on Superscalar. It checks its own results, and exits with status 1 if one is wrong.

rand("seed", 1);
n = 1200;
a = rand(n) - 0.5;
b = rand(n, 10);

tic;
x = a \ b;                      % getrf, getrs
[l, u, p] = lu(a);              % getrf
[q, r] = qr(a);                 % geqrf, orgqr
s = a' * a + eye(n);            % gemm
c = chol(s);                    % potrf
inverse = inv(s);               % getrf, getri, or potri
seconds = toc;

names = {"a x - b", "p a - l u", "a - q r", "s - c' c", "s s^-1 - 1"};
errors = [norm(a * x - b, 1) / (norm(a, 1) * norm(x, 1)), norm(p * a - l * u, 1) / norm(a, 1), ...
          norm(a - q * r, 1) / norm(a, 1), norm(s - c' * c, 1) / norm(s, 1), ...
          norm(s * inverse - eye(n), 1) / (norm(s, 1) * norm(inverse, 1))];
for i = 1:numel(errors)
  printf("%-12s %.1e\n", names{i}, errors(i));
end
printf("%.3f s\n", seconds);
% The bound is a hundred times the usual error. A NaN does not satisfy it.
if !all(errors < 1e-11)
  exit(1);
end
